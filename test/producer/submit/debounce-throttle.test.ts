// Submits that are debounced or throttled.

import { describe, expect, test } from "vitest";
import { type SubmitOptions, type Wadi, Worker } from "../../../src/index.ts";
import { internalsOf } from "../../../src/producer/internals.ts";
import { interceptOperations } from "../../../testing/intercept.ts";
import { ManualClock, memoryWadi } from "../../../testing/memory.ts";

function clocked(): { wadi: Wadi; clock: ManualClock } {
  const clock = new ManualClock();
  return { wadi: memoryWadi({ clock: clock.read }), clock };
}

describe("debounce", () => {
  const debounce = { delayMs: 1000, maxDelayMs: 2500 };

  test("a burst ends with one task that has the newest payload and is due after the quiet time", async () => {
    const { wadi, clock } = clocked();
    const created = await wadi.submit("a", 1, { key: "k", debounce, priority: 3 });
    expect(created).toMatchObject({ outcome: "created", runAtMs: clock.nowMs + 1000 });
    clock.advance(900);
    const second = await wadi.submit("a", 2, { key: "k", debounce, metadata: { n: 2 } });
    expect(second).toEqual({
      ...created,
      outcome: "debounced",
      payload: 2,
      metadata: { n: 2 },
      runAtMs: clock.nowMs + 1000,
      updatedAtMs: clock.nowMs,
    });
    clock.advance(900);
    // At 1800 of 2500: the greatest delay decides.
    const third = await wadi.submit("a", 3, { key: "k", debounce });
    expect(third.runAtMs).toBe(created.createdAtMs + 2500);
    clock.advance(800);
    const worker = new Worker(wadi).task("a", ({ payload }) => payload);
    expect((await worker.drain()).succeeded).toBe(1);
    expect(await wadi.get(created.id)).toMatchObject({ payload: 3, result: 3 });
    expect((await wadi.submit("a", 4, { key: "k", debounce })).outcome).toBe("created");
  });

  test("announces a postponed task to workers of the same Wadi only when it is due immediately", async () => {
    const { wadi, clock } = clocked();
    await wadi.submit("a", 1, { key: "k", debounce });
    const reported: unknown[] = [];
    internalsOf(wadi).notifier.onQueued((queues) => reported.push(queues));
    await wadi.submit("a", 2, { key: "k", debounce });
    expect(reported).toEqual([]);
    clock.advance(3000);
    await wadi.submit("a", 3, { key: "k", debounce });
    expect(reported).toEqual([["default"]]);
  });

  test("submits of one tick and of one list keep their order", async () => {
    const wadi = memoryWadi();
    const options = { key: "k", debounce };
    const many = await Promise.all([1, 2, 3].map((n) => wadi.submit("a", n, options)));
    expect(many.map(({ outcome, payload }) => [outcome, payload])).toEqual([
      ["created", 1],
      ["debounced", 2],
      ["debounced", 3],
    ]);
    const entries = [4, 5].map((payload) => ({ payload, ...options }));
    const listed = await wadi.submitMany("a", [...entries, { payload: 6, key: "other", debounce }]);
    expect(listed.map(({ outcome, payload }) => [outcome, payload])).toEqual([
      ["debounced", 4],
      ["debounced", 5],
      ["created", 6],
    ]);
    expect((await wadi.getByKey("k"))?.payload).toBe(5);
  });

  test("a list and one statement mix it with other policies", async () => {
    const { wadi, clock } = clocked();
    const keys = ["d", "t", "r", "x"];
    for (const key of keys) await wadi.submit("a", "old", { key });
    const options: SubmitOptions[] = [{ debounce }, { throttle: { perMs: 5 } }, {}, { conflict: "replace" }];
    const submit = () =>
      wadi.submitMany(
        "a",
        options.map((each, i) => ({ ...each, key: keys[i]!, payload: "new" })),
      );
    expect((await submit()).map(({ outcome, payload }) => [outcome, payload])).toEqual([
      ["debounced", "new"],
      ["reused", "old"],
      ["reused", "old"],
      ["created", "new"],
    ]);
    clock.advance(5);
    expect((await submit()).map(({ outcome }) => outcome)).toEqual([
      "debounced",
      "reused",
      "reused",
      "created",
    ]);
  });
});

describe("throttle", () => {
  test("hands the key's task back while it is young, whatever its status", async () => {
    const { wadi, clock } = clocked();
    const throttle = { perMs: 1000 };
    const submit = (payload: number) => wadi.submit("a", payload, { key: "k", throttle });
    const first = await submit(1);
    await new Worker(wadi).task("a", ({ payload }) => payload).drain();
    clock.advance(999);
    expect(await submit(2)).toMatchObject({ outcome: "reused", id: first.id, result: 1 });
    clock.advance(1);
    const second = await submit(3);
    expect(second.outcome).toBe("created");
    clock.advance(5000);
    // Older than the window and still queued: the policy decides, and by default it is reused.
    expect(await submit(4)).toMatchObject({ outcome: "reused", id: second.id });
    const replaced = await wadi.submit("a", 5, { key: "k", throttle, conflict: "replace", delayMs: 5 });
    expect(replaced).toMatchObject({ outcome: "created", runAtMs: clock.nowMs + 5 });
    expect((await wadi.get(second.id))?.status).toBe("canceled");
  });
});

const refused: [options: SubmitOptions, message: string | RegExp][] = [
  [{ debounce: { delayMs: 1 } }, "debounce needs a key; pass key too"],
  [{ throttle: { perMs: 1 } }, "throttle needs a key; pass key too"],
  [{ key: "k", debounce: 5 as never }, "debounce must be an object, got 5"],
  [{ key: "k", throttle: null as never }, "throttle must be an object, got null"],
  [
    { key: "k", debounce: { delayMs: 1, max: 2 } as never },
    /debounce has no option "max"; it takes delayMs, max/,
  ],
  [{ key: "k", throttle: { ms: 2 } as never }, 'throttle has no option "ms"; it takes perMs'],
  [{ key: "k", debounce: { delayMs: 0 } }, /debounce.delayMs must be an integer from 1 to \d+, got 0$/],
  [{ key: "k", debounce: {} as never }, /debounce.delayMs must be an integer .* got undefined$/],
  [
    { key: "k", debounce: { delayMs: 9, maxDelayMs: 8 } },
    /debounce.maxDelayMs must be an integer from 9 to \d+, got 8$/,
  ],
  [{ key: "k", throttle: { perMs: 0.5 } }, /throttle.perMs must be an integer from 1 to \d+, got 0.5$/],
  [{ key: "k", debounce: { delayMs: 1 }, delayMs: 1 }, "pass either debounce or delayMs, not both"],
  [{ key: "k", debounce: { delayMs: 1 }, runAt: 1 }, "pass either debounce or runAt, not both"],
  [{ key: "k", debounce: { delayMs: 1 }, conflict: "reuse" }, "pass either debounce or conflict, not both"],
  [
    { key: "k", debounce: { delayMs: 1 }, throttle: { perMs: 1 } },
    "pass either debounce or throttle, not both",
  ],
  [
    { key: "k", throttle: { perMs: 1 }, conflict: "reject" },
    /throttle cannot be combined with conflict "reject"; pass one of them$/,
  ],
];
test.each(refused)("refuses %j", async (options, message) => {
  const wadi = memoryWadi();
  interceptOperations(wadi, "submit", () => expect.fail("nothing may be sent"));
  const submits = [
    () => wadi.submit("a", 1, options),
    () => wadi.submitMany("a", [{ payload: 1, ...options }]),
    () => wadi.call("a", 1, options),
  ];
  for (const submit of submits) {
    const error = await submit().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((error as Error).message).toMatch(message);
  }
});
