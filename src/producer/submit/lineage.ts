/** The family of a task: its parent, and the first of its ancestors. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import type { LeaseRef } from "../../core/operations/lease.ts";
import { optionalText } from "../../core/validate.ts";
import type { SubmitOptions } from "./submit-options.ts";

/** The ids that a child inherits from the task that submits it. */
export interface Lineage {
  readonly parentId: string;
  readonly rootId: string;
  readonly correlationId: string | null;
  /** The parent's lease, without which the child is refused. */
  readonly held?: LeaseRef | undefined;
}

/** The columns of the family: from the task whose context submits it, or from the options. */
export function familyOf(
  { parentId, rootId }: Pick<SubmitOptions, "parentId" | "rootId">,
  lineage: Lineage | undefined,
) {
  const parent = optionalText("parentId", parentId);
  const root = optionalText("rootId", rootId);
  if (lineage !== undefined && (parent !== null || root !== null)) {
    throw new InvalidArgument(
      "context.submit sets parentId and rootId itself; use the submit of a Wadi to name others",
    );
  }
  if (root !== null && parent === null) throw new InvalidArgument("rootId needs parentId; pass both");
  return { parent_id: lineage?.parentId ?? parent, root_id: lineage?.rootId ?? root ?? parent };
}
