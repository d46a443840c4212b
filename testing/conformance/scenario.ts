// Reads the scenarios of protocol/conformance and of other folders, and checks their form.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Step {
  readonly op: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Alias under which later steps find the result. */
  readonly save?: string;
  readonly expect?: Readonly<Record<string, unknown>>;
  /** Name of the error the step must end with. `save` then keeps its type and the id of its task. */
  readonly expectError?: string;
  /** The subject of the operation `expect`; it may also be among the arguments. */
  readonly target?: unknown;
  /** An assertion may stand on the step itself as well as under `expect`. */
  readonly [assertion: string]: unknown;
}

/** What may be asserted of a result. */
export const ASSERTIONS = [
  "equals",
  "equalsRef",
  "notEqualsRef",
  "greaterThanRef",
  "length",
  "notNull",
  "isNull",
] as const;

export interface Scenario {
  readonly name: string;
  readonly description: string;
  readonly steps: readonly Step[];
}

const STEP_FIELDS = [
  ...["op", "args", "save", "expect", "expectError", "target", "description", "comment"],
  ...ASSERTIONS,
];

/** The folder of Wadi's own scenarios. */
export const OWN_SCENARIOS = join(import.meta.dirname, "../../protocol/conformance");

/** Reads every scenario of a folder, by file name. Throws a message that names the file at fault. */
export function loadScenarios(folder: string): Scenario[] {
  if (!existsSync(folder)) throw new Error(`there is no folder ${folder}`);
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort();
  if (files.length === 0) throw new Error(`there is no scenario (*.json) in ${folder}`);
  return files.map((file) => parseScenario(join(folder, file)));
}

function parseScenario(path: string): Scenario {
  let scenario: Partial<Scenario>;
  try {
    scenario = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!isObject(scenario) || typeof scenario.name !== "string" || !Array.isArray(scenario.steps)) {
    throw new Error(`${path} is no scenario: it needs a name and a list of steps`);
  }
  for (const [i, step] of scenario.steps.entries()) {
    const problem = stepProblem(step);
    if (problem !== null) throw new Error(`${path}: step ${i + 1} ${problem}`);
  }
  return { description: "", ...scenario } as Scenario;
}

function stepProblem(step: unknown): string | null {
  if (!isObject(step) || typeof step.op !== "string") return "has no op";
  const unknown = Object.keys(step).find((field) => !STEP_FIELDS.includes(field));
  if (unknown !== undefined)
    return `has an unknown field "${unknown}"; it may have ${STEP_FIELDS.join(", ")}`;
  for (const field of ["args", "expect"]) {
    if (step[field] !== undefined && !isObject(step[field])) return `needs an object as ${field}`;
  }
  for (const field of ["save", "expectError"]) {
    if (step[field] !== undefined && typeof step[field] !== "string") return `needs a string as ${field}`;
  }
  return null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
