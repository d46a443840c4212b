/**
 * When a submit is due, and what happens to the task that already has its key: conflict, debounce, throttle, delays.
 */
import { type CompleteChecks, checkOptions, integerFrom } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { CONFLICT_POLICIES } from "../../core/task.ts";
import { integer, MAX_DELAY_MS, oneOf } from "../../core/validate.ts";
import type { DebounceOptions, SubmitOptions, ThrottleOptions } from "./submit-options.ts";

/** When a submit is due, and what happens to the task that already has its key. */
export type Pacing = Pick<NewTask, "conflict" | "maxDelayMs" | "throttleMs"> & { readonly delayMs: number };

const DELAY_MS = integerFrom(1, MAX_DELAY_MS);
const DEBOUNCE = {
  delayMs: DELAY_MS,
  maxDelayMs: (_: string, value: unknown) => value as number | undefined, // from delayMs, by pacingOf
} satisfies CompleteChecks<DebounceOptions>;
const THROTTLE = { perMs: DELAY_MS } satisfies CompleteChecks<ThrottleOptions>;

/** @throws {InvalidArgument} naming the options that do not go together, or the one that is out of range. */
export function pacingOf(options: SubmitOptions, key: string | null): Pacing {
  const { debounce, throttle } = options;
  const conflict = oneOf("conflict", options.conflict ?? "reuse", CONFLICT_POLICIES);
  for (const option of ["conflict", "debounce", "throttle"] as const) {
    if (options[option] !== undefined && key === null) {
      throw new InvalidArgument(`${option} needs a key; pass key too`);
    }
  }
  apart(options, "runAt", "delayMs");
  for (const other of ["conflict", "delayMs", "runAt", "throttle"] as const)
    apart(options, "debounce", other);
  if (debounce !== undefined) {
    const { delayMs, maxDelayMs } = checkOptions("debounce", debounce, DEBOUNCE, "debounce.");
    if (maxDelayMs !== undefined) integer("debounce.maxDelayMs", maxDelayMs, delayMs, MAX_DELAY_MS);
    return { conflict: "debounce", delayMs, maxDelayMs };
  }
  const delayMs = integer("delayMs", options.delayMs ?? 0, 0, MAX_DELAY_MS);
  if (throttle === undefined) return { conflict, delayMs };
  const { perMs } = checkOptions("throttle", throttle, THROTTLE, "throttle.");
  if (conflict === "reject") {
    throw new InvalidArgument(`throttle cannot be combined with conflict "reject"; pass one of them`);
  }
  return { conflict, delayMs, throttleMs: perMs };
}

function apart(options: SubmitOptions, one: keyof SubmitOptions, other: keyof SubmitOptions): void {
  if (options[one] !== undefined && options[other] !== undefined) {
    throw new InvalidArgument(`pass either ${one} or ${other}, not both`);
  }
}
