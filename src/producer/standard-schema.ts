/** The part of Standard Schema v1 (https://standardschema.dev) that Wadi uses. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** What Standard Schema prescribes. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema makes of a value: its output, or why it refuses the value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Most places that a message names. */
const SHOWN = 5;

/** One reason why a schema refuses a value. */
export interface StandardIssue {
  /** The reason, for people. Wadi shows only the place. */
  readonly message: string;
  /** The place in the value; absent for the value as a whole. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InferInput<S> = S extends StandardSchemaV1<infer Input, unknown> ? Input : never;
export type InferOutput<S> = S extends StandardSchemaV1<unknown, infer Output> ? Output : never;

/** Names the places that a schema refuses, and not the reasons: the message of a library may quote the value. */
export function mismatchMessage(
  what: "payload" | "result",
  name: string,
  issues: readonly StandardIssue[],
): string {
  const places = issues.map(({ path = [] }) =>
    path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
  );
  const at = [...new Set(places.filter((place) => place !== ""))].slice(0, SHOWN).join(", ");
  return `the ${what} of ${name} does not match its schema${at && ` at ${at}`}`;
}
