// Checks the answers of concurrent keyed submits against each other and against the rows.

import { expect } from "vitest";
import type { ConflictPolicy, Wadi } from "../../src/index.ts";
import { query } from "./audit.ts";
import type { KeyedAnswer } from "./jobs.ts";

export interface KeyedRace {
  /** The name of its tasks, and the beginning of its keys. */
  readonly name: string;
  readonly conflict: ConflictPolicy;
  readonly keys: readonly string[];
  /** By connection, then in the order of the keys. */
  readonly answers: readonly (readonly KeyedAnswer[])[];
}

/** Compares the answers of all connections with the rows: each key has one live task, and every answer names it. */
export async function checkKeys(wadi: Wadi, { name, conflict, keys, answers }: KeyedRace): Promise<void> {
  const pointed = await query(wadi, `select key, task_id from cairnq_task_keys where key like '${name}-%'`);
  const taskOf = new Map(pointed.map((row) => [String(row.key), String(row.task_id)]));
  const rows = await query(wadi, `select id, status from cairnq_tasks where name = '${name}'`);
  const statusOf = new Map(rows.map((row) => [String(row.id), String(row.status)]));
  const count = (status: string) => rows.filter((row) => row.status === status).length;
  expect([...taskOf.keys()].sort()).toEqual([...keys].sort());
  expect(count("queued")).toBe(keys.length);
  expect(count("canceled")).toBe(conflict === "replace" ? keys.length * (answers.length - 1) : 0);
  expect(rows).toHaveLength(count("queued") + count("canceled"));

  for (const [turn, key] of keys.entries()) {
    const current = taskOf.get(key)!;
    const given = answers.map((ofConnection) => ofConnection[turn]!);
    expect(statusOf.get(current), key).toBe("queued");
    if (conflict === "replace") {
      const replaced = given.filter(({ id }) => id !== current);
      for (const { id } of replaced) expect(statusOf.get(id), key).toBe("canceled");
      continue;
    }
    const refused = conflict === "reject" ? "rejected" : "reused";
    const expected = ["created", ...Array.from({ length: answers.length - 1 }, () => refused)];
    expect(given.map(({ outcome }) => outcome).sort(), key).toEqual(expected.sort());
    for (const { id } of given) expect(id, key).toBe(current);
  }
}

/** The number of keys for which two connections submitted at the same time. */
export function countRaces(answers: KeyedRace["answers"]): number {
  const isRace = (given: readonly KeyedAnswer[]) => {
    const inOrder = given.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    return inOrder.some(({ startedAtMs }, i) => i > 0 && startedAtMs <= inOrder[i - 1]!.endedAtMs);
  };
  return answers[0]!.filter((_, turn) => isRace(answers.map((ofConnection) => ofConnection[turn]!))).length;
}
