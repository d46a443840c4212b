// Hours in minutes: workers that serve under load while peers are killed, Postgres restarts and disks fill up.

import { readOptions } from "./options.ts";
import { ENGINES, type EngineName, openEngine } from "./soak/engines.ts";
import { type SoakPlan, type SoakResult, soak } from "./soak/run.ts";

const { plan, engines, json } = readOptions(
  "soak",
  {
    minutes: { value: "N", about: "how long it goes on, 10 if not given; may be a fraction" },
    engine: { value: "NAME", list: true, about: `only these, at one time: ${ENGINES.join(", ")}` },
    rate: { value: "N", about: "tasks a second that are submitted to each engine, 50 if not given" },
    json: { about: "print the results as one line of JSON, last" },
  },
  ({ minutes = "10", rate = "50", engine = ENGINES, json }) => {
    for (const name of engine) {
      if (!ENGINES.some((known) => known === name)) {
        throw new Error(`no engine "${name}"; there are ${ENGINES.join(", ")}`);
      }
    }
    const plan: SoakPlan = {
      minutes: positive("minutes", minutes),
      tasksPerSecond: positive("rate", rate),
      peers: 2,
      mishaps: Math.max(2, Math.round(Number(minutes))),
    };
    return { plan, engines: engine as readonly EngineName[], json };
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

const results = await Promise.all(engines.map(run));
for (const { engine, violations, failures, ...figures } of results) {
  console.log(`\n${engine}`);
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(22)} ${value}`);
  for (const [failure, count] of Object.entries(failures)) console.log(`  survived ${count} x ${failure}`);
  for (const violation of violations) console.log(`  VIOLATION: ${violation}`);
}
const sum = (
  field: "submitted" | "succeeded" | "lost" | "settledTwice" | "kills" | "restarts" | "diskFull",
) => results.reduce((total, result) => total + result[field], 0);
const violations = results.flatMap((result) => result.violations.map((what) => `${result.engine}: ${what}`));
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
