// The depth of a queue, and its headroom.

import { describe, expect, it } from "vitest";
import { Wadi } from "../../src/index.ts";
import { pickTargets } from "../../testing/targets.ts";

describe.each(pickTargets(["better-sqlite3-memory", "d1", "pg"]))(
  "the depth of a queue on $name",
  (target) => {
    it("counts the queued tasks of that queue, and the headroom is what a limit leaves", async () => {
      const open = await target.open();
      try {
        const wadi = new Wadi(open.executor);
        expect(await wadi.queueDepth("mail")).toBe(0);
        const entries = Array.from({ length: 5 }, (_, n) => ({
          payload: n,
          queue: "mail",
          delayMs: n * 1000,
        }));
        const [first] = await wadi.submitMany("job", entries);
        await wadi.submit("job", 1);
        await wadi.cancel(first!.id);
        expect(await wadi.queueDepth("mail")).toBe(4);
        expect(await wadi.queueHeadroom("mail", 10)).toBe(6);
        expect(await wadi.queueHeadroom("mail", 3)).toBe(0);
      } finally {
        await open.close();
      }
    });
  },
);
