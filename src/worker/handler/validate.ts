import { TaskError } from "../../core/errors/errors.ts";
import type { Task } from "../../core/task.ts";
import { mismatchMessage, type StandardSchemaV1 } from "../../producer/standard-schema.ts";

/** The value as the schema returns it. @throws {TaskError} `invalid_payload` or `invalid_result` */
export async function validate(
  schema: StandardSchemaV1,
  what: "payload" | "result",
  { name }: Task,
  value: unknown,
): Promise<unknown> {
  const checked = await schema["~standard"].validate(value);
  if (checked.issues === undefined) return checked.value;
  throw new TaskError(mismatchMessage(what, name, checked.issues), {
    code: `invalid_${what}`,
    retryable: false,
  });
}
