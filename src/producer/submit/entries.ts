/** The entries of a `submitMany`: each goes through the stages of one submit, and errors name the entry. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { show } from "../../core/validate.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import { ofItem } from "../in-item.ts";
import type { SubmitRequest } from "./prepare-task.ts";
import type { SubmitEntry } from "./submit-options.ts";
import { validatePayload } from "./validate-payload.ts";

/** @param prepare Checks and serialises one task. */
export function prepareEntries(
  prepare: (request: SubmitRequest) => NewTask,
  task: string | AnyTaskDefinition,
  entries: readonly SubmitEntry[],
): NewTask[] {
  if (!Array.isArray(entries)) {
    throw new InvalidArgument(`submitMany takes an array of { payload, ...options }, got ${show(entries)}`);
  }
  return entries.map((entry: SubmitEntry, at) => {
    if (!isRecord(entry)) {
      throw new InvalidArgument(
        `each entry of submitMany must be an object { payload, ...options }, got ${show(entry)} at ${at}`,
      );
    }
    const { payload, ...options } = entry;
    try {
      return prepare({ task, payload, options });
    } catch (error) {
      const isBare = payload === undefined && /no option/.test(String(error));
      throw ofEntry(error, at, isBare ? "; put it into payload" : "");
    }
  });
}

/** Validates the payload of each; synchronous if the schema is: then the list of promises is empty. */
export function validateEntries(
  task: string | AnyTaskDefinition,
  prepared: readonly NewTask[],
): Promise<void>[] {
  const pending: Promise<void>[] = [];
  for (const [at, each] of prepared.entries()) {
    const fail = (error: unknown): never => {
      throw prepared.length === 1 ? error : ofEntry(error, at);
    };
    try {
      const validated = validatePayload(task, each);
      if (validated !== undefined) pending.push(validated.catch(fail));
    } catch (error) {
      for (const other of pending) other.catch(() => {}); // the first error is thrown, the others are dropped
      fail(error);
    }
  }
  return pending;
}

function ofEntry(error: unknown, at: number, advice?: string): unknown {
  return ofItem(`entry ${at} of submitMany`, error, advice);
}
