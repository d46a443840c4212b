// Names, queues and keys of the longest lengths fit into every index.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTask, Wadi, Worker } from "../../src/index.ts";
import type { OpenTarget } from "../../testing/target.ts";
import { pickTargets } from "../../testing/targets.ts";

/** So many bytes of Han characters that no database can compress. */
function bytes(size: number): string {
  let seed = size;
  const han = Array.from({ length: Math.floor(size / 3) }, () => {
    seed = (seed * 48271) % 2147483647;
    return String.fromCharCode(0x4e00 + (seed % 20_000));
  });
  return han.join("") + "x".repeat(size % 3);
}

describe.each(pickTargets(["better-sqlite3-memory", "pg"]))("on $name", (target) => {
  let open: OpenTarget;
  let wadi: Wadi;
  let sent: number;

  beforeAll(async () => {
    open = await target.open();
    wadi = new Wadi(open.executor);
    await wadi.migrate({ mixedFleet: true });
    await wadi.stats();
    sent = open.meter().roundTrips;
  });

  afterAll(() => open?.close());

  test.each<[string, (wadi: Wadi) => unknown, RegExp]>([
    [
      "a key",
      (w) => w.submit("a", 1, { key: bytes(2601) }),
      /^key must be at most 2600 bytes of UTF-8.*got 2601/,
    ],
    ["a key to look up", (w) => w.getByKey(bytes(2700)), /^key must be at most 2600 bytes/],
    ["a correlation id", (w) => w.submit("a", 1, { correlationId: bytes(2700) }), /^correlationId must be/],
    ["a name", (w) => w.submit(bytes(2700), 1), /^task name must be at most 2600 bytes/],
    ["a queue", (w) => w.submit("a", 1, { queue: bytes(2700) }), /^queue must be at most 2600 bytes/],
    [
      "a key of limits",
      (w) => w.submit("a", 1, { limits: { key: bytes(2001), concurrency: 1 } }),
      /^limits.key must be at most 2000 bytes/,
    ],
    [
      "a key of limits from the payload",
      (w) =>
        w.submit(defineTask({ name: "a", limits: { key: () => bytes(2001), concurrency: 1 } }), 1 as never),
      /^limits.key must be at most 2000/,
    ],
    [
      "a name and a queue",
      (w) => w.submit(bytes(1400), 1, { queue: bytes(1201) }),
      /^queue, task name share an index entry and must be at most 2600 bytes of UTF-8 together, got 1201 \+ 1400/,
    ],
    [
      "all three",
      (w) => w.submit(bytes(601), 1, { limits: { key: bytes(2000), concurrency: 1 } }),
      /^queue, task name, limits.key share .* got 7 \+ 601 \+ 2000/,
    ],
    [
      "one of many",
      (w) => w.submitMany("a", [{ payload: 1 }, { payload: 1, key: bytes(2601) }]),
      /^entry 1 of submitMany: key must be/,
    ],
    [
      "a definition",
      () => defineTask({ name: bytes(1400), queue: bytes(1201) }),
      /^queue, name share an index entry/,
    ],
    ["a worker", (w) => new Worker(w, { name: bytes(501) }), /^name must be at most 500 bytes/],
    ["a worker's queue", (w) => new Worker(w, { queues: [bytes(2700)] }), /^each of queues must be at most/],
    [
      "a handler",
      (w) => new Worker(w).task(bytes(1400), () => 1, { queue: bytes(1201) }),
      /^queue, task name share/,
    ],
  ])("%s that is too long is refused before anything is sent", async (_, act, message) => {
    await expect((async () => act(wadi))()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringMatching(message),
    });
    expect(open.meter().roundTrips).toBe(sent);
  });

  test("the longest of each runs through every index", async () => {
    const worker = new Worker(wadi, { name: bytes(500), queues: ["default", bytes(1300)] });
    const tasks = [
      await wadi.submit("a", 1, { key: bytes(2600), correlationId: bytes(2598) }),
      await wadi.submit(bytes(1300), 1, { queue: bytes(1300) }),
      await wadi.submit(bytes(593), 1, {
        limits: { key: bytes(2000), concurrency: 1, rate: { count: 5, perMs: 1000 } },
      }),
    ];
    for (const { name } of tasks)
      worker.task(name, () => 1, { queues: name === bytes(1300) ? [bytes(1300)] : ["default"] });
    expect(await worker.drain()).toMatchObject({ succeeded: 3 });
    for (const { id } of tasks) await expect(wadi.get(id)).resolves.toMatchObject({ status: "succeeded" });
    expect(await wadi.purge({ olderThanMs: 0 })).toBeGreaterThanOrEqual(0);
  });
});
