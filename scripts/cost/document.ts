// Renders the tables of docs/cost.md from the ceilings.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../../src/core/executor.ts";
import type { Meter, TargetName } from "../../testing/target.ts";
import { targets } from "../../testing/targets.ts";
import { writeChanged } from "../write-changed.ts";
import type { Ceilings } from "./ceilings.ts";
import { type Compared, FEATURES } from "./features.ts";
import { operations } from "./operations.ts";

const FILE = join(import.meta.dirname, "../../docs/cost.md");

/** List prices of D1 in dollars for a million rows. */
const D1_PRICE = { read: 0.001, written: 1 };
const MINUTES_A_MONTH = 30 * 24 * 60;

/** docs/cost.md with the parts between its markers made from the ceilings; the prose around them stays. */
export function renderDocument(ceilings: Ceilings): string {
  const parts = { table: table(ceilings), features: featureTable(ceilings), bill: bill(ceilings.d1!) };
  return Object.entries(parts).reduce((text, [name, part]) => {
    const marked = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`);
    if (!marked.test(text)) throw new Error(`docs/cost.md has no "<!-- ${name} -->" part`);
    return text.replace(marked, (_, start: string, end: string) => `${start}${part}\n${end}`);
  }, readDocument());
}

export function readDocument(): string {
  return readFileSync(FILE, "utf8");
}

export function writeDocument(ceilings: Ceilings): void {
  writeChanged(FILE, renderDocument(ceilings));
}

function table(ceilings: Ceilings): string {
  const all = targets.map(({ name }) => name);
  const of = (dialect: Dialect) =>
    targets.filter((target) => target.dialect === dialect).map(({ name }) => name);
  const columns: [heading: string, names: readonly string[], number: keyof Meter][] = [
    ["round trips", all, "roundTrips"],
    ["statements, SQLite", of("sqlite"), "statements"],
    ["statements, Postgres", of("postgres"), "statements"],
    ["rows read, D1", ["d1"], "rowsRead"],
    ["rows written, D1", ["d1"], "rowsWritten"],
  ];
  const rows = Object.keys(operations).map((operation) => [
    `\`${operation}\``,
    ...columns.map(([, names, number]) => range(names.map((name) => ceilings[name]?.[operation]?.[number]))),
  ]);
  const lines = [
    ["operation", ...columns.map(([heading]) => heading)],
    ["---", ...columns.map(() => "--:")],
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** What each feature adds to the operations of its columns. */
function featureTable(ceilings: Ceilings): string {
  const cell = (compared: Compared) =>
    typeof compared === "string" ? compared : compared === null ? "0" : added(ceilings, ...compared);
  const rows = FEATURES.map(([feature, ...columns]) => [feature, ...columns.map(cell)]);
  const lines = [["with", "a submit", "a claim", "an empty drain"], ["---", "---", "---", "---"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function added(ceilings: Ceilings, operation: string, base: string): string {
  const difference = (target: TargetName, number: keyof Meter) =>
    ceilings[target]![operation]![number]! - ceilings[target]![base]![number]!;
  const statements = [difference("d1", "statements"), difference("pg", "statements")];
  const parts = [
    ...[signed(difference("d1", "rowsRead"), "read"), signed(difference("d1", "rowsWritten"), "written")],
    ...(statements.some((count) => count !== 0)
      ? [`${statements.map(withSign).join(" / ")} statements`]
      : []),
    signed(difference("d1", "roundTrips"), "round trip"),
  ].filter((part) => part !== "");
  return parts.length === 0 ? "0" : parts.join(", ");
}

function signed(count: number, what: string): string {
  return count === 0 ? "" : `${withSign(count)} ${what}`;
}

function withSign(count: number): string {
  return `${count > 0 ? "+" : count < 0 ? "−" : ""}${Math.abs(count)}`;
}

/** One number where the targets agree, else the least and the most. */
function range(values: readonly (number | null | undefined)[]): string {
  const numbers = values.map((value) => value ?? Number.NaN);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? String(most) : `${least} to ${most}`;
}

function bill(d1: Record<string, Meter>): string {
  const steps = ["submit", "claim", "settle"].map((operation) => d1[operation]!);
  const task = total(steps);
  const idle = d1["drain-empty-100k-not-due"]!;
  const month = { read: idle.rowsRead! * MINUTES_A_MONTH, written: idle.rowsWritten! * MINUTES_A_MONTH };
  return [
    `- **A task**, from submit to success, one at a time: ${task.written} rows written and ${task.read} read.`,
    `  A million tasks cost ${dollars(task, 1_000_000)}, nearly all of it for writing.`,
    "- **An idle minute cron** for three names, over any backlog: " +
      `${idle.rowsRead} rows read and ${idle.rowsWritten} written.`,
    `  A month of it reads ${(month.read / 1e6).toFixed(1)} million rows and costs ${dollars(month, 1)}.`,
  ].join("\n");
}

function total(costs: readonly Meter[]): { read: number; written: number } {
  const sum = (number: "rowsRead" | "rowsWritten") =>
    costs.reduce((all, cost) => all + (cost[number] ?? 0), 0);
  return { read: sum("rowsRead"), written: sum("rowsWritten") };
}

function dollars(rows: { read: number; written: number }, times: number): string {
  const amount = ((rows.read * D1_PRICE.read + rows.written * D1_PRICE.written) * times) / 1e6;
  return `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}
