// Hours in minutes: workers that serve under load while peers are killed, Postgres restarts and disks fill up.

import { readOptions } from "./options.ts";
import { ENGINES, type EngineName, openEngine } from "./soak/engines.ts";
import { soakWithFaults } from "./soak/faults/run.ts";
import { type SoakPlan, type SoakResult, soak } from "./soak/run.ts";

const { plan, engines, faults, json } = readOptions(
  "soak",
  {
    minutes: { value: "N", about: "how long it goes on, 10 if not given; may be a fraction" },
    engine: { value: "NAME", list: true, about: `only these, at one time: ${ENGINES.join(", ")}` },
    rate: {
      value: "N",
      about: "tasks a second that are submitted to each database, 50 if not given, 30 with --faults",
    },
    faults: { about: "inject faults into requests, connections, servers and handlers instead" },
    json: { about: "print the results as one line of JSON, last" },
  },
  ({ minutes = "10", faults = false, rate = faults ? "30" : "50", engine = ENGINES, json }) => {
    if (faults && engine !== ENGINES)
      throw new Error("--faults runs on all of its databases: leave out --engine");
    for (const name of engine) {
      if (!ENGINES.some((known) => known === name)) {
        throw new Error(`no engine "${name}"; there are ${ENGINES.join(", ")}`);
      }
    }
    const plan: SoakPlan = {
      minutes: positive("minutes", minutes),
      tasksPerSecond: positive("rate", rate),
      peers: 2,
      faults: Math.max(2, Math.round(Number(minutes))),
    };
    return { plan, engines: engine as readonly EngineName[], faults, json };
  },
);

function positive(option: string, value: string): number {
  if (Number(value) > 0) return Number(value);
  throw new Error(`--${option} takes a number above 0, got "${value}"`);
}

async function run(name: EngineName): Promise<SoakResult> {
  const engine = await openEngine(name);
  try {
    return await soak(engine, plan, console.log);
  } finally {
    await engine.close();
  }
}

if (faults) await runWithFaults();
else await runEngines();

async function runWithFaults(): Promise<void> {
  const { result, violations } = await soakWithFaults(plan, console.log);
  for (const violation of violations) console.log(`VIOLATION: ${violation}`);
  console.log(violations.length === 0 ? "\nno violation" : `\n${violations.length} violations`);
  console.log(json ? JSON.stringify(result) : result);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

async function runEngines(): Promise<void> {
  const results = await Promise.all(engines.map(run));
  for (const { engine, violations, failures, ...figures } of results) {
    console.log(`\n${engine}`);
    for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(22)} ${value}`);
    for (const [failure, count] of Object.entries(failures))
      console.log(`  recovered from ${count} x ${failure}`);
    for (const violation of violations) console.log(`  VIOLATION: ${violation}`);
  }
  const sum = (
    field: "submitted" | "succeeded" | "lost" | "settledTwice" | "kills" | "restarts" | "diskFull",
  ) => results.reduce((total, result) => total + result[field], 0);
  const violations = results.flatMap((result) =>
    result.violations.map((what) => `${result.engine}: ${what}`),
  );
  console.log(violations.length === 0 ? "\nno violation" : `\n${violations.length} violations`);
  if (json) {
    const totals = {
      minutes: plan.minutes,
      submitted: sum("submitted"),
      succeeded: sum("succeeded"),
      lost: sum("lost"),
      settledTwice: sum("settledTwice"),
      kills: sum("kills"),
      restarts: sum("restarts"),
      diskFull: sum("diskFull"),
      heapStartMb: Math.max(...results.map(({ heapStartMb }) => heapStartMb)),
      heapEndMb: Math.max(...results.map(({ heapEndMb }) => heapEndMb)),
      isFlat: results.every(({ isFlat }) => isFlat),
      violations,
    };
    console.log(JSON.stringify({ ...totals, engines: results }));
  }
  process.exitCode = violations.length === 0 ? 0 : 1;
}
