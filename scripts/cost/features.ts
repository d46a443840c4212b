// What a submit, a claim and an empty drain cost with each feature that adds something to one of them.

import { hintInMemory } from "../../src/index.ts";
import type { Wadi } from "../../src/producer/wadi.ts";
import { storeOf } from "../../testing/store.ts";
import { type Bench, claimOf, HOUR_MS, type Operation, PAYLOAD, THREE_NAMES } from "./bench.ts";

/** Brings a database into the state in which a feature is in use, and returns the client that uses it. */
type Setup = (bench: Bench) => Promise<Wadi>;

const submitting =
  (setup: Setup): Operation =>
  async (bench) => {
    const wadi = await setup(bench);
    return () => wadi.submit("index", PAYLOAD);
  };

const claiming =
  (setup: Setup): Operation =>
  async (bench) => {
    const wadi = await setup(bench);
    await wadi.submit("index", PAYLOAD);
    return () => storeOf(wadi).claim(claimOf(1));
  };

const draining =
  (setup: Setup): Operation =>
  async (bench) =>
    bench.drainOf(THREE_NAMES, await setup(bench));

/** In a database that belongs to a scope. */
const scoped: Setup = async (bench) => {
  const wadi = await bench.with({ scope: "production" });
  await wadi.migrate();
  return wadi;
};

/** A name of no handler is paused, in every queue. */
const paused: Setup = async ({ wadi }) => {
  await wadi.pause({ name: "import" });
  return wadi;
};

/** A task is queued that is due later. */
const delayed: Setup = async ({ wadi }) => {
  await wadi.submit("index", PAYLOAD, { delayMs: HOUR_MS });
  return wadi;
};

/** It may expire too. */
const expiring: Setup = async ({ wadi }) => {
  await wadi.submit("index", PAYLOAD, { delayMs: HOUR_MS, expiresInMs: 2 * HOUR_MS });
  return wadi;
};

/** A schedule is stored whose slot is not due; a drain has computed it. */
const scheduled: Setup = async (bench) => {
  const { wadi } = bench;
  await wadi.schedules.set({ name: "nightly", everyMs: 1000 * HOUR_MS, task: "index", payload: PAYLOAD });
  await bench.drainOf(THREE_NAMES)();
  return wadi;
};

/** The same three names were drained a moment ago. */
const hinted: Setup = async (bench) => {
  const wadi = await bench.with({ hint: hintInMemory() });
  await bench.drainOf(THREE_NAMES, wadi)();
  return wadi;
};

/** An operation with a feature and the one without; or a text that stands for it, null for nothing. */
export type Compared = readonly [operation: string, base: string] | string | null;

const KICKING: Compared = ["drain-empty-kicking", "drain-empty"];

/** For the table of docs/cost.md: what shows what a feature adds to a submit, a claim and an empty drain. */
export const FEATURES: readonly (readonly [feature: string, ...columns: Compared[]])[] = [
  ["a `wake` that kicks", ["submit-kicking", "submit"], "as an empty drain", KICKING],
  ["a `wake` while a kick is pending", ["submit-kick-pending", "submit"], "as an empty drain", KICKING],
  [
    "`expiresInMs`",
    ["submit-expiring", "submit"],
    ["claim-expiring", "claim"],
    ["drain-empty-expiring", "drain-empty-not-due"],
  ],
  ["a pause in force, of another name", null, ["claim-pause", "claim"], ["drain-empty-pause", "drain-empty"]],
  [
    "a schedule that is not due",
    null,
    ["claim-schedules", "claim"],
    ["drain-empty-schedules", "drain-empty"],
  ],
  ["`onFailed`", ["submit-on-failed", "submit"], ["claim-on-failed", "claim"], null],
  ["a `scope`", ["submit-scope", "submit"], ["claim-scope", "claim"], ["drain-empty-scope", "drain-empty"]],
  ["a `hint`", ["submit-hint", "submit"], null, ["drain-empty-hint", "drain-empty"]],
];

export const features: Readonly<Record<string, Operation>> = {
  "submit-expiring": async ({ wadi }) => {
    const options = { expiresInMs: HOUR_MS };
    return () => wadi.submit("index", PAYLOAD, options);
  },
  "submit-scope": submitting(scoped),
  "submit-hint": submitting(hinted),
  "claim-pause": claiming(paused),
  "claim-expiring": async ({ wadi }) => {
    await wadi.submit("index", PAYLOAD, { expiresInMs: HOUR_MS });
    return () => storeOf(wadi).claim(claimOf(1));
  },
  "claim-on-failed": async ({ wadi }) => {
    await wadi.submit("index", PAYLOAD, { onFailed: "alert" });
    return () => storeOf(wadi).claim(claimOf(1));
  },
  "claim-schedules": claiming(scheduled),
  "claim-scope": claiming(scoped),
  "drain-empty-pause": draining(paused),
  "drain-empty-not-due": draining(delayed),
  "drain-empty-expiring": draining(expiring),
  "drain-empty-schedules": draining(scheduled),
  "drain-empty-scope": draining(scoped),
  "drain-empty-hint": draining(hinted),
};
