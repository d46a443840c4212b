import { type ParseArgsConfig, parseArgs } from "node:util";

/** An option of a tool, as its usage shows it. */
export interface Option {
  readonly about: string;
  /** The placeholder of its value in the usage; a flag has none. */
  readonly value?: string;
  /** Accepts several names, separated by commas or in repeated options. */
  readonly list?: true;
}

type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { list: true }
    ? readonly string[] | undefined
    : O[Name] extends { value: string }
      ? string | undefined
      : boolean;
};

/**
 * The options with which `npm run <tool>` was called, after `read` has converted their values.
 *
 * `--help` prints the usage and ends the process with 0. An unknown option, a stray argument or a value that `read`
 * throws for is named in one line on stderr with the usage below, and the process ends with 2.
 *
 * With `subjects` the tool takes exactly one of these names in addition, which `read` gets as its second argument.
 */
export function readOptions<const O extends Options, Job = Values<O>>(
  tool: string,
  options: O,
  read: (values: Values<O>, subjects: readonly string[]) => Job = (values) => values as Job,
  subjects: readonly string[] = [],
): Job {
  const usage = usageOf(tool, options, subjects);
  try {
    const { values, positionals } = parse(options, subjects);
    if (values.help === true) {
      console.log(usage);
      process.exit(0);
    }
    return read(values as Values<O>, positionals);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(`${tool}: ${message.split("\n")[0]}\n${usage}`);
    process.exit(2);
  }
}

function usageOf(tool: string, options: Options, subjects: readonly string[]): string {
  const shown = Object.entries(options).map(
    ([name, { value, list, about }]) =>
      [`--${name}${value === undefined ? "" : ` ${value}`}${list ? ",..." : ""}`, about] as const,
  );
  const width = Math.max(...shown.map(([option]) => option.length));
  const parts = [
    ...shown.map(([option]) => `[${option}]`),
    ...(subjects.length > 0 ? [subjects.join("|")] : []),
  ];
  return [
    `usage: npm run ${tool} -- ${parts.join(" ")}`,
    ...shown.map(([option, about]) => `  ${option.padEnd(width)}  ${about}`),
  ].join("\n");
}

function parse(
  options: Options,
  subjects: readonly string[],
): { values: Record<string, unknown>; positionals: readonly string[] } {
  const kinds: NonNullable<ParseArgsConfig["options"]> = { help: { type: "boolean", short: "h" } };
  for (const [name, { value, list }] of Object.entries(options)) {
    kinds[name] = value === undefined ? { type: "boolean", default: false } : { type: "string" };
    if (list) kinds[name].multiple = true;
  }
  const { values, positionals } = parseArgs({ options: kinds, allowPositionals: subjects.length > 0 });
  const [subject] = positionals;
  if (subjects.length > 0 && values.help !== true) {
    if (subject === undefined) throw new Error(`name one of ${subjects.join(", ")}`);
    if (positionals.length > 1) throw new Error(`Unexpected argument '${positionals[1]}'`);
    if (!subjects.includes(subject))
      throw new Error(`Unexpected argument '${subject}': name one of ${subjects.join(", ")}`);
  }
  const read = Object.entries(values).map(([name, value]) => [
    name,
    Array.isArray(value) ? names(name, value.map(String)) : value,
  ]);
  return { values: Object.fromEntries(read), positionals };
}

/** Each name once. An empty list is an error: the tool would do nothing. */
function names(option: string, lists: readonly string[]): string[] {
  const all = lists.flatMap((list) => list.split(",")).map((name) => name.trim());
  const named = [...new Set(all)].filter((name) => name !== "");
  if (named.length === 0) throw new Error(`Option '--${option}' names nothing`);
  return named;
}
