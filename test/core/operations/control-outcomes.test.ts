// What cancel and retry report, also when they are sent again.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Executor } from "../../../src/core/executor.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";

describe.each(pickTargets(["better-sqlite3-memory", "libsql-file", "d1", "pg", "neon-http"]))(
  "on $name",
  ({ open }) => {
    let target: OpenTarget;
    let wadi: Wadi;
    let worker: Worker;

    beforeAll(async () => {
      target = await open();
      wadi = new Wadi(target.executor);
      worker = new Worker(wadi).task("a", () => "done");
      await wadi.migrate();
    });

    afterAll(() => target.close());

    const done = async () => {
      const { id } = await wadi.submit("a", null);
      await worker.drain();
      return id;
    };

    test("a cancel says whether it changed anything", async () => {
      const queued = await wadi.submit("a", null, { key: "canceled" });
      expect(await wadi.cancelByKey("canceled")).toMatchObject({ id: queued.id, outcome: "canceled" });
      expect(await wadi.cancel(queued.id)).toMatchObject({ status: "canceled", outcome: "unchanged" });
      const ended = await done();
      expect(await wadi.cancel(ended)).toMatchObject({ status: "succeeded", outcome: "unchanged" });
      expect(await wadi.cancel("task_none")).toBeNull();
      const asked: unknown[] = [];
      const asking = new Worker(wadi).task("asked", async ({ id }) => {
        asked.push(await wadi.cancel(id), await wadi.cancel(id));
      });
      await wadi.submit("asked", null);
      await asking.drain();
      expect(asked).toMatchObject([
        { status: "running", outcome: "requested" },
        { status: "running", outcome: "unchanged" },
      ]);
    });

    test("a retry says whether it changed anything, and whether the task still has its key", async () => {
      const ended = await done();
      expect(await wadi.retry(ended)).toMatchObject({ status: "succeeded", outcome: "unchanged", key: null });
      const old = await wadi.submit("a", 1, { key: "retried" });
      expect(await wadi.retry(old.id)).toMatchObject({ outcome: "unchanged", key: "retried" });
      await wadi.cancel(old.id);
      expect(await wadi.retry(old.id)).toMatchObject({ status: "queued", outcome: "queued", key: "retried" });
      await wadi.cancel(old.id);
      const next = await wadi.submit("a", 2, { key: "retried" });
      expect(await wadi.retry(old.id)).toMatchObject({ status: "queued", outcome: "queued", key: null });
      expect((await wadi.getByKey("retried"))?.id).toBe(next.id);
      expect(await wadi.retry("task_none")).toBeNull();
    });

    test("an answer that was lost is given again", async () => {
      let isLost = false;
      const lossy: Executor = {
        ...target.executor,
        classify: (error) => (error === LOST ? "unknown" : target.executor.classify(error)),
        async batch(statements, options) {
          const rows = await target.executor.batch(statements, options);
          isLost = !isLost;
          if (isLost) throw LOST;
          return rows;
        },
      };
      const again = new Wadi(lossy, { requestRetry: { baseMs: 0 } });
      const { id } = await wadi.submit("a", null);
      expect(await again.cancel(id)).toMatchObject({ status: "canceled", outcome: "canceled" });
      expect(await again.retry(id)).toMatchObject({ status: "queued", outcome: "queued" });
    });
  },
);

const LOST = new Error("the connection was reset");
