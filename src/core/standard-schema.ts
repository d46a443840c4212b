/** The part of Standard Schema v1 (https://standardschema.dev) that Wadi uses. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InferInput<S> = S extends StandardSchemaV1<infer Input, unknown> ? Input : never;
export type InferOutput<S> = S extends StandardSchemaV1<unknown, infer Output> ? Output : never;

/** Issues shown in a message. */
const SHOWN = 5;

/** Names the places that are wrong and the rules they break, as `user.email: Invalid email`. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const shown = issues.slice(0, SHOWN).map((issue) => {
    const path = (issue.path ?? [])
      .map((part) => String(typeof part === "object" ? part.key : part))
      .join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  return shown.join("; ") + (issues.length > SHOWN ? `; and ${issues.length - SHOWN} more` : "");
}
