// A scenario that does not hold fails with what was expected and found.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Arena, openArena } from "../../testing/conformance/arena.ts";
import { mismatches } from "../../testing/conformance/expectations.ts";
import { loadScenarios, type Step } from "../../testing/conformance/scenario.ts";
import { pickTargets } from "../../testing/targets.ts";

const [target] = pickTargets(["better-sqlite3-memory"]);
const SUBMIT: Step = { op: "submit", args: { name: "job", payload: { n: 1 } }, save: "t" };

describe("a scenario that does not hold", () => {
  let arena: Arena;

  beforeAll(async () => {
    arena = await openArena(target!);
  });

  afterAll(() => arena.close());

  const failing = (...steps: Step[]) =>
    expect(arena.run({ name: "wrong", description: "", steps: [SUBMIT, ...steps] })).rejects;

  it("fails with the step, the field and both values", async () => {
    const step = { op: "get", args: { id: "$t.id" }, expect: { equals: { status: "running", attempt: 0 } } };
    await failing(step).toThrow(/^step 2 \(get\): status: expected "running", got "queued"$/);
  });

  it("fails where an error was expected and none came", async () => {
    const step = { op: "get", args: { id: "$t.id" }, expectError: "LostLease" };
    await failing(step).toThrow("step 2 (get): expected LostLease, but it succeeded");
  });

  it("fails where another error came", async () => {
    const step = { op: "heartbeat", args: { id: "$t.id", worker_id: "w" }, expectError: "AlreadyExists" };
    await failing(step).toThrow(/expected AlreadyExists, got LostLease: the lease on task task_\w+ is lost/);
  });

  it("fails where an error came and none was expected", async () => {
    const step = { op: "complete", args: { id: "$t.id", worker_id: "w" } };
    await failing(step).toThrow("step 2 (complete): LostLease: ");
  });

  it.each<[string, Step, string]>([
    ["op", { op: "teleport" }, 'there is no op "teleport"'],
    ["argument", { op: "get", args: { id: "$t.id", fast: true } }, 'the op get has no argument "fast"'],
    ["argument of the wrong type", { op: "claim", args: { worker_id: 7 } }, "worker_id must be a string"],
    [
      "assertion on a step",
      { op: "expect", target: "$t.id", equalsRef: "$t.name" },
      'result: expected equal to $t.name ("job")',
    ],
    ["expectation", { op: "stats", expect: { like: 1 } }, 'there is no expectation "like"'],
    ["alias", { op: "get", args: { id: "$unknown.id" } }, 'nothing was saved as "unknown"'],
    ["field", { op: "get", args: { id: "$t.idd" } }, "$t.idd: there is no such field in"],
  ])("fails for an unknown %s", async (_what, step, message) => {
    await failing(step).toThrow(message);
  });
});

describe("a row that breaks a rule of the protocol", () => {
  it("fails the scenario even if every step holds", async () => {
    const arena = await openArena(target!, (executor) => ({
      ...executor,
      batch: (statements) =>
        executor.batch([...statements, { sql: "update cairnq_tasks set lease_until_ms = 1", params: [] }]),
    }));
    const scenario = { name: "rows", description: "", steps: [SUBMIT] };
    await expect(arena.run(scenario)).rejects.toThrow(/^at the end: a lease exists exactly while running/);
    await arena.close();
  });
});

describe("an expectation", () => {
  const saved = new Map<string, unknown>([["a", { id: "x", n: 3, list: [{ id: "y" }] }]]);
  const row = { id: "x", n: 4, nothing: null, empty: {}, deep: { a: [1, { b: 2 }] }, "dotted.name": 5 };

  it.each<[Record<string, unknown>, unknown]>([
    [{ equals: { id: "x", deep: { a: [1, { b: 2 }] } } }, row],
    [{ equals: { "deep.a.1.b": 2, "dotted.name": 5, id: "$a.id", empty: {} } }, row],
    [{ equals: 3 }, 3],
    [{ equals: { absent: null } }, row],
    [{ equals: { id: null } }, null],
    [{ isNull: ["id", "status"] }, null],
    [{ isNull: ["absent"] }, row],
    [{ equalsRef: 3, notEqualsRef: 4, greaterThanRef: 2 }, 3],
    [{ equals: { "0.id": "x", "0.n": 4 } }, [row]],
    [{ equalsRef: "$a.n" }, 3],
    [{ equalsRef: { id: "$a.id" }, notEqualsRef: { id: "$a.list.0.id" }, greaterThanRef: { n: "a.n" } }, row],
    [{ length: 1 }, [row]],
    [{ length: { "deep.a": 2 } }, row],
    [{ notNull: true }, row],
    [{ isNull: true }, null],
    [{ notNull: ["id", "deep.a.0"], isNull: "nothing" }, row],
    [{ isNull: { nothing: true } }, row],
  ])("%j holds", (rules, result) => {
    expect(mismatches(rules, result, saved)).toEqual([]);
  });

  it.each<[Record<string, unknown>, unknown]>([
    [{ equals: { deep: { a: [1] } } }, row],
    [{ equals: { deep: { a: [1, {}] } } }, row],
    [{ equals: { deep: { a: [1, { b: 2 }], more: 1 } } }, row],
    [{ equalsRef: 4 }, 3],
    [{ greaterThanRef: 3 }, 3],
    [{ equals: { deep: {} } }, row],
    [{ equals: { empty: { a: 1 } } }, row],
    [{ equals: { absent: 1 } }, row],
    [{ equals: { n: "4" } }, row],
    [{ equals: 3 }, 4],
    [{ equals: { id: "x" } }, null],
    [{ equals: [] }, [row]],
    [{ equalsRef: { n: "$a.n" } }, row],
    [{ notEqualsRef: { id: "$a.id" } }, row],
    [{ greaterThanRef: { nothing: "$a.n" } }, row],
    [{ greaterThanRef: "$a.n" }, 3],
    [{ length: 0 }, null],
    [{ length: 2 }, [row]],
    [{ notNull: ["id"] }, null],
    [{ notNull: ["nothing"] }, row],
    [{ notNull: ["absent"] }, row],
    [{ isNull: ["id"] }, row],
    [{ isNull: true }, row],
  ])("%j does not hold", (rules, result) => {
    expect(mismatches(rules, result, saved)).toHaveLength(1);
  });
});

describe("a folder of scenarios", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "wadi-scenarios-"));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it.each([
    ["", "cannot be read as JSON"],
    ["[]", "is no scenario"],
    ['{"name": "x"}', "is no scenario"],
    ['{"name": "x", "steps": [{"args": {}}]}', "step 1 has no op"],
    ['{"name": "x", "steps": [{"op": "get", "expects": {}}]}', 'step 1 has an unknown field "expects"'],
    ['{"name": "x", "steps": [{"op": "get", "args": []}]}', "step 1 needs an object as args"],
  ])("is refused with the file at fault: %s", (text, message) => {
    writeFileSync(join(folder, "bad.json"), text);
    expect(() => loadScenarios(folder)).toThrow(message);
    expect(() => loadScenarios(folder)).toThrow(join(folder, "bad.json"));
  });

  it("is refused if it is empty or missing", () => {
    expect(() => loadScenarios(folder)).toThrow(`there is no scenario (*.json) in ${folder}`);
    expect(() => loadScenarios(join(folder, "absent"))).toThrow("there is no folder");
  });
});
