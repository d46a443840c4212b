// A first call on an empty D1 keeps within the queries of one invocation.

import { expect, test } from "vitest";
import { d1 } from "../../../src/drivers/d1.ts";
import { Wadi, Worker } from "../../../src/index.ts";
import { beforeRequests } from "../../../testing/before-requests.ts";
import { openD1 } from "../../../testing/d1.ts";

/** A binding whose statements are counted when they are sent, also if they fail. */
async function counted() {
  const { binding, close } = await openD1();
  const state = { sent: 0 };
  const executor = beforeRequests(d1(binding), (statements) => {
    state.sent += statements.length;
  });
  return { wadi: new Wadi(executor), state, close };
}

test("the first submit on an empty D1 takes at most 29 queries", async () => {
  const { wadi, state, close } = await counted();
  await wadi.submit("a", null);
  expect(state.sent).toBeLessThanOrEqual(29);
  close();
});

test("the first drain on an empty D1 keeps within its queries, and can still work", async () => {
  const { wadi, state, close } = await counted();
  const worker = new Worker(wadi).task("a", () => 1);
  const summary = await worker.drain();
  expect(summary).toMatchObject({ claimed: 0, more: false, queries: state.sent });
  // One for each table, index and trigger, two for their rows, two for the
  // ledger, two that find the database empty, and the five of a claim twice. The budget is 40.
  expect(state.sent).toBeLessThanOrEqual(37);
  close();
});
