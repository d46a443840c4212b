/** The third stage of a submit: checks payloads against the schema of their definition. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import { decodeJson } from "../../core/json/json.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import { mismatchMessage, type StandardResult } from "../standard-schema.ts";

/**
 * Checks the payload in its JSON form, as the handler will get it; synchronous if the schema is.
 *
 * @throws {InvalidArgument} naming the places that are wrong, never their values.
 */
export function validatePayload(
  task: string | AnyTaskDefinition,
  { columns: { payload } }: NewTask,
): void | Promise<void> {
  if (typeof task === "string" || task.payload === null) return;
  const refuse = ({ issues }: StandardResult<unknown>): void => {
    if (issues) throw new InvalidArgument(mismatchMessage("payload", task.name, issues), { cause: issues });
  };
  const checked = task.payload["~standard"].validate(decodeJson(payload));
  return "then" in checked ? Promise.resolve(checked).then(refuse) : refuse(checked);
}
