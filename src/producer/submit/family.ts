import { InvalidArgument } from "../../core/errors/errors.ts";
import { optionalText } from "../../core/validate.ts";
import type { Lineage, SubmitOptions } from "./prepare-task.ts";

/** Whose child it is: of the task whose context submits it, or of the one it names. */
export function family(
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
