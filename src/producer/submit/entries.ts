import { InvalidArgument, SerializationError } from "../../core/errors/errors.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { show } from "../../core/validate.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import { type Prepare, validatePayload } from "./prepare-task.ts";
import type { SubmitEntry } from "./submit-options.ts";

/** Checks the entries of a `submitMany`, and names the one that is wrong. Nothing is sent. */
export function prepareMany(
  prepare: Prepare,
  task: string | AnyTaskDefinition,
  entries: readonly SubmitEntry[],
): NewTask[] {
  if (!Array.isArray(entries)) {
    throw new InvalidArgument(`submitMany takes an array of { payload, ...options }, got ${show(entries)}`);
  }
  return entries.map((entry: SubmitEntry, at) => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
      throw new InvalidArgument(
        `each entry of submitMany must be an object { payload, ...options }, got ${show(entry)} at ${at}`,
      );
    }
    const { payload, ...options } = entry;
    try {
      return prepare(task, payload, options);
    } catch (error) {
      throw ofEntry(error, at);
    }
  });
}

/** `validatePayload` for each of many, in order; synchronous where the schema is. */
export function validateMany(
  task: string | AnyTaskDefinition,
  prepared: readonly NewTask[],
): (Promise<void> | undefined)[] {
  const checks: (Promise<void> | undefined)[] = [];
  for (const [at, each] of prepared.entries()) {
    const named = (error: unknown): never => {
      throw prepared.length === 1 ? error : ofEntry(error, at);
    };
    try {
      checks.push(validatePayload(task, each)?.catch(named));
    } catch (error) {
      for (const check of checks) check?.catch(() => {}); // the first error is thrown, not two
      named(error);
    }
  }
  return checks;
}

function ofEntry(error: unknown, at: number): unknown {
  const is = [InvalidArgument, SerializationError].find((each) => error instanceof each);
  if (is === undefined) return error;
  const { message, cause } = error as Error;
  return new is(`entry ${at} of submitMany: ${message}`, { cause });
}
