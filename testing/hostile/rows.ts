// Rows with every value that the constraints of the tables allow, chosen by a seeded random source.

import type { Dialect } from "../../src/core/executor.ts";

export const NOW_MS = 100_000;
export const QUEUES = ["default", "mail"] as const;

export interface HostileRow {
  /** The cells as SQL literals, by column. */
  readonly cells: Readonly<Record<string, string>>;
}

type Random = (below: number) => number;

const SQLITE = {
  priority: [
    ..."0 0 0 1 -1 5 0.5 -0.5 0.25 2147483647 -2147483648 2147483648 4503599627370496 -4503599627370496".split(
      " ",
    ),
    ..."1e20 -1e20 9e999 -9e999 9223372036854775807 -9223372036854775808 'urgent' '' x'00ff'".split(" "),
  ],
  run_at_ms: [
    ..."100000 99990 99990.5 99990.25 99999.9999 0 0.1 0.10000000000000002 -5 -5.5 -1e300 1e300 100001".split(
      " ",
    ),
    ..."9e999 -9e999 9223372036854775807 -9223372036854775808 4503599627370496 'soon' '' x'01'".split(" "),
  ],
  count: "0 0 0 1 2 0.5 -1 1e20 9223372036854775807 -9223372036854775808 9e999 'x' '' x'31'".split(" "),
  lease: "0 5 5.5 -1 -9e999 -9223372036854775808 99999 100001 'x' x'01' 1e20".split(" "),
  payload: [
    ...["'{}'", "'5'", "'\"x\"'", "'null'", "cast('{\"a\":1}' as blob)", "'1e400'"],
    `'${"[".repeat(900)}${"]".repeat(900)}'`,
  ],
  metadata: ["'{}'", "'null'", "'[1]'", "'5'", "'{\"__proto__\":1}'"],
  name: ["'send'", "'send'", "'send'", "''", "'a%''\"'", "'💥'", "'x'||char(0)||'y'", "cast('send' as blob)"],
  key: ["''", "''", "'a'", "'A'", "'💥'", "x'61'", "'a'||char(0)", "'%s''\"'"],
  id: (n: number) => [
    ...[`'task_${n}'`, `'task_${n}'`, `'💥${n}'`, `'${n}'`, `'!${n}'`, `'é''"%s${n}'`, `char(10)||'${n}'`],
    ...[
      `'${"z".repeat(300)}${n}'`,
      `'n'||char(0)||'${n}'`,
      `cast('b${n}' as blob)`,
      n === 0 ? "''" : `' ${n}'`,
    ],
  ],
};

const [INT, BIG] = [
  ["0", "0", "1", "2147483647", "-2147483648", "-1"],
  ["9223372036854775807", "-9223372036854775808"],
];

const POSTGRES: typeof SQLITE = {
  priority: [...INT, "5"],
  run_at_ms: ["100000", "99990", "99990", "0", "-5", "100001", ...BIG],
  count: INT,
  lease: ["0", "5", "-1", "99999", "100001", ...BIG],
  payload: ["'{}'", "'5'", "'\"x\"'", "'null'", "'1e400'", `'${"[".repeat(900)}${"]".repeat(900)}'`],
  metadata: SQLITE.metadata,
  name: ["'send'", "'send'", "'send'", "''", "'a%''\"'", "'💥'"],
  key: ["''", "''", "'a'", "'A'", "'💥'", "'%s''\"'"],
  id: (n) => SQLITE.id(n).filter((id) => !/char|cast/.test(id)),
};

/** A row with any values that the constraints of the table allow. */
export function hostileRow(dialect: Dialect, random: Random, n: number): HostileRow {
  const of = dialect === "sqlite" ? SQLITE : POSTGRES;
  const one = (list: readonly string[]): string => list[random(list.length)]!;
  const isRunning = random(5) === 0;
  return {
    cells: {
      id: one(of.id(n)),
      name: one(of.name),
      queue: `'${one(QUEUES)}'`,
      status: isRunning ? "'running'" : "'queued'",
      payload: one(of.payload),
      metadata: one(of.metadata),
      error: random(3) === 0 ? one(of.metadata) : "null",
      attempt: one(of.count),
      max_attempts: one(of.count),
      crashes: one(of.count),
      max_crashes: one(of.count),
      priority: one(of.priority),
      worker_id: isRunning ? "'w:x'" : "null",
      lease_until_ms: isRunning ? one(of.lease) : "null",
      run_at_ms: one(of.run_at_ms),
      concurrency_key: one(of.key),
      created_at_ms: one(of.run_at_ms),
      updated_at_ms: one(of.run_at_ms),
    },
  };
}

/** A row as Wadi submits it, due after rows of a higher priority. */
export function plainRow(n: number, queue: string): HostileRow {
  return {
    cells: {
      ...{ id: `'plain_${n}'`, name: "'send'", queue: `'${queue}'`, status: "'queued'", payload: "'{}'" },
      ...{ metadata: "'{}'", attempt: "0", max_attempts: "3", priority: "0", run_at_ms: "99000" },
      ...{ concurrency_key: "''", created_at_ms: "0", updated_at_ms: "0" },
    },
  };
}

/** One statement for rows of the same columns. */
export function insertOf(rows: readonly HostileRow[]): string {
  const values = rows.map(({ cells }) => `(${Object.values(cells)})`);
  return `insert into cairnq_tasks (${Object.keys(rows[0]!.cells)}) values ${values}`;
}
