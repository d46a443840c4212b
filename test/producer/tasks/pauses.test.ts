// Pausing and resuming a queue, a name, or a name in a queue, for the whole fleet.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { InvalidArgument, Wadi, Worker } from "../../../src/index.ts";
import { lossy } from "../../../testing/lossy-executor.ts";
import type { OpenTarget } from "../../../testing/target.ts";
import { pickTargets } from "../../../testing/targets.ts";
import { until } from "../../../testing/until.ts";
import { NO_POLLS } from "../../worker/run/idle-run.ts";

const TARGETS = ["better-sqlite3-memory", "libsql-http", "d1", "pg", "neon-http"];

describe.each(pickTargets(TARGETS))("pauses on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;

  beforeEach(async () => {
    open = await target.open();
    wadi = new Wadi(open.executor);
  });

  afterEach(() => open.close());

  /** The names of the tasks that a worker of the queues `mail` and `files` runs, and what it says is left. */
  async function drain() {
    const ran: string[] = [];
    const worker = new Worker(wadi, { queues: ["mail", "files"] });
    for (const name of ["send", "resize"])
      worker.task(name, ({ task }) => void ran.push(`${task.queue}.${name}`));
    const { more, nextDueAtMs, unhandled } = await worker.drain();
    return { ran: ran.sort(), more, nextDueAtMs, unhandled };
  }

  async function submitAll(): Promise<void> {
    for (const queue of ["mail", "files"])
      for (const name of ["send", "resize"]) await wadi.submit(name, null, { queue });
  }

  const nothing = { more: false, nextDueAtMs: null, unhandled: [] };

  test.each([
    { pause: { queue: "mail" }, ran: ["files.resize", "files.send"], held: ["mail.resize", "mail.send"] },
    { pause: { name: "send" }, ran: ["files.resize", "mail.resize"], held: ["files.send", "mail.send"] },
    {
      pause: { queue: "mail", name: "send" },
      ran: ["files.resize", "files.send", "mail.resize"],
      held: ["mail.send"],
    },
  ])("tasks of $pause wait until it is resumed", async ({ pause, ran, held }) => {
    await submitAll();
    const stored = await wadi.pause(pause);
    expect(stored).toEqual({ queue: null, name: null, ...pause, pausedAtMs: expect.any(Number) });
    expect(await drain()).toEqual({ ran, ...nothing });
    expect(await wadi.pause(pause)).toEqual(stored);
    expect(await wadi.pauses()).toEqual([stored]);
    expect(await wadi.resume(pause)).toEqual([]);
    expect(await wadi.resume(pause)).toEqual([]);
    expect(await wadi.pauses()).toEqual([]);
    expect(await drain()).toEqual({ ran: held, ...nothing });
  });

  test("a resume returns the pauses that still hold some of its tasks", async () => {
    await submitAll();
    await wadi.pause({ queue: "mail" });
    const name = await wadi.pause({ name: "send" });
    const other = await wadi.pause({ queue: "files", name: "resize" });
    expect(await wadi.pauses({ queue: "files" })).toEqual([name, other]);
    expect(await wadi.resume({ queue: "mail" })).toEqual([name]);
    expect(await drain()).toEqual({ ran: ["mail.resize"], ...nothing });
  });
});

test("a worker that takes every name leaves out paused ones, and does not report them as unhandled", async () => {
  for (const target of pickTargets(["better-sqlite3-memory", "pg"])) {
    const open = await target.open();
    try {
      const wadi = new Wadi(open.executor);
      await wadi.submit("a", null);
      await wadi.submit("b", null, { limits: { key: "k", concurrency: 1 } });
      await wadi.pause({ name: "b" });
      const worker = new Worker(wadi).task("a", () => null);
      expect(await worker.drain()).toMatchObject({ succeeded: 1, more: false, unhandled: [] });
      await wadi.resume({ name: "b" });
      expect(await worker.drain()).toMatchObject({ unhandled: [{ name: "b", tasks: 1 }] });
    } finally {
      await open.close();
    }
  }
});

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("a resume on $name", (target) => {
  test.each([{ queue: "default" }, { name: "a" }])("of $queue$name wakes an idle worker", async (lane) => {
    const open = await target.open();
    const wadi = new Wadi(open.executor);
    let runs = 0;
    const worker = new Worker(wadi, NO_POLLS).task("a", () => void runs++);
    const stop = new AbortController();
    try {
      await wadi.pause(lane);
      await wadi.submit("a", null);
      const running = worker.run({ signal: stop.signal });
      const [task] = await wadi.list();
      await until(async () => (await wadi.getStatus(task!.id))?.status === "queued");
      await wadi.resume(lane);
      await until(() => runs === 1);
      stop.abort();
      await running;
    } finally {
      stop.abort();
      await open.close();
    }
  });
});

test("a lost answer of a pause or a resume changes nothing", async () => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    const wadi = new Wadi(
      lossy(open.executor, (request) => (request % 2 === 1 ? "after" : null)),
      { requestRetry: { baseMs: 0, capMs: 0 } },
    );
    const paused = await wadi.pause({ queue: "mail" });
    expect(await wadi.pauses()).toEqual([paused]);
    expect(await wadi.resume({ queue: "mail" })).toEqual([]);
  } finally {
    await open.close();
  }
});

test("a pause without a queue and a name is refused before anything is sent", async () => {
  const [target] = pickTargets(["better-sqlite3-memory"]);
  const open = await target!.open();
  try {
    const wadi = new Wadi(open.executor);
    await expect(wadi.pause({})).rejects.toThrow(InvalidArgument);
    await expect(wadi.pause({ queue: undefined })).rejects.toThrow("pause needs a queue, a name or both");
    await expect(wadi.resume({})).rejects.toThrow("resume needs a queue, a name or both");
    await expect(wadi.pause({ queue: "" })).rejects.toThrow("queue must be a non-empty string");
    await expect(wadi.pauses({ tasks: 1 } as never)).rejects.toThrow('pauses has no option "tasks"');
    expect(open.meter().roundTrips).toBe(0);
  } finally {
    await open.close();
  }
});
