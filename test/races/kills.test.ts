// Workers that are killed or frozen at random.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SubmitEntry, Wadi } from "../../src/index.ts";
import { findFaults, query, readMoves, startAudit } from "../../testing/races/audit.ts";
import type { Address } from "../../testing/races/connect.ts";
import { openDatabase } from "../../testing/races/databases.ts";
import { TASK } from "../../testing/races/jobs.ts";
import { type RacerProcess, RacerProcesses } from "../../testing/races/racer-processes.ts";
import { seededRandom } from "../../testing/task-input.ts";

const TASKS = 2000;
const PROCESSES = 6;
const LEASE_MS = 400;
const KILLS = 4;
const FREEZES = 2;
const PAUSE_MS = [50, 250] as const;

type Random = (below: number) => number;

/** Set WADI_RACE_SEED to the seed in a test's title to have the same victims after the same pauses. */
const SEED = Number(process.env.WADI_RACE_SEED ?? Math.floor(Math.random() * 1e9));

test.each(["better-sqlite3-file", "pg"] as const)(
  `workers killed or frozen at random lose nothing, and nothing is settled by two, %s, seed ${SEED}`,
  { timeout: 120_000 },
  async (target) => {
    const database = await openDatabase(target);
    const random = seededRandom(SEED);
    const workers = new Workers(database.address!, random);
    try {
      const wadi = await database.connect();
      await startAudit(wadi);
      const ids: string[] = [];
      const submit = async (count: number) => {
        const entries = Array.from({ length: count }, () => entry(random));
        for (const { id } of await wadi.submitMany(TASK, entries)) ids.push(id);
      };
      await submit(TASKS);

      await Promise.all(Array.from({ length: PROCESSES }, () => workers.start()));
      while ((await unfinished(wadi)) > 0) {
        await workers.harm();
        // A fast machine gets more to do, until enough of its workers were harmed.
        if ((workers.killed < KILLS || workers.frozen < FREEZES) && (await unfinished(wadi)) < TASKS / 4)
          await submit(TASKS / 4);
      }
      await workers.thawed();

      const moves = await readMoves(wadi);
      expect(findFaults(moves, ids)).toEqual([]);
      expect(workers.killed).toBeGreaterThanOrEqual(KILLS);
      expect(workers.frozen).toBeGreaterThanOrEqual(FREEZES);
      // It held tasks when it was killed, else nothing is proved.
      const takenBack = moves.filter(({ was, became }) => was === "running" && became === "queued");
      expect(takenBack.length).toBeGreaterThan(0);

      const runs = workers.runs();
      expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(ids));
      const attempts = runs.map(({ id, attempt }) => `${id} ${attempt}`);
      expect(attempts).toHaveLength(new Set(attempts).size);
    } finally {
      await workers.end();
      await database.close();
    }
  },
);

/**
 * One task in twenty works longer than a lease. What comes back from a frozen worker goes before tasks of lower
 * priority, so that another worker holds it when the frozen one wakes up and wants to settle it.
 */
function entry(random: Random): SubmitEntry {
  const workMs = random(20) === 0 ? 300 + random(200) : 20 + random(40);
  return { payload: workMs, priority: random(10), maxAttempts: 1000, maxCrashes: 1000 };
}

async function unfinished(wadi: Wadi): Promise<number> {
  const [row] = await query(
    wadi,
    "select count(*) as n from cairnq_tasks where status in ('queued', 'running')",
  );
  return Number(row!.n);
}

/** Worker processes, and what happens to them. */
class Workers {
  killed = 0;
  frozen = 0;
  readonly #address: Address;
  readonly #random: Random;
  readonly #processes = new RacerProcesses();
  readonly #working: RacerProcess[] = [];
  readonly #thaws: Promise<unknown>[] = [];
  readonly #records = mkdtempSync(join(tmpdir(), "wadi-runs-"));
  #failure: unknown;

  constructor(address: Address, random: Random) {
    this.#address = address;
    this.#random = random;
  }

  async start(): Promise<void> {
    const member = await this.#processes.start().open(this.#address);
    this.#working.push(member);
    const record = join(this.#records, String(member.pid));
    member.work({ record, concurrency: 4, leaseMs: LEASE_MS }).catch((error) => {
      this.#failure ??= error;
    });
  }

  /** After a pause one is killed and replaced, and every third time stopped for longer than its leases. */
  async harm(): Promise<void> {
    const [least, most] = PAUSE_MS;
    await sleep(least + this.#random(most - least));
    if (this.#failure !== undefined) throw this.#failure;
    const victim = this.#working.splice(this.#random(this.#working.length), 1)[0]!;
    if ((this.killed + this.frozen) % 3 === 2) {
      this.frozen++;
      this.#thaws.push(
        freeze(victim.pid, LEASE_MS * 1.2 + this.#random(LEASE_MS / 2)).then(() =>
          this.#working.push(victim),
        ),
      );
    } else {
      this.killed++;
      await victim.kill();
    }
    if (this.#working.length < PROCESSES) await this.start();
  }

  /** Resolves when those that were frozen have had time to settle what is no longer theirs. */
  async thawed(): Promise<void> {
    await Promise.all(this.#thaws);
    await sleep(100);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Every run of a handler, as the handlers wrote them down. */
  runs(): { id: string; attempt: number }[] {
    const lines = readdirSync(this.#records).flatMap((file) =>
      readFileSync(join(this.#records, file), "utf8").trimEnd().split("\n"),
    );
    return lines.map((line) => {
      const [id, attempt] = line.split(" ");
      return { id: id!, attempt: Number(attempt) };
    });
  }

  async end(): Promise<void> {
    await this.#processes.end();
    await Promise.all(this.#thaws);
    rmSync(this.#records, { recursive: true, force: true });
  }
}

/** A shell does it, so that the process goes on even if this one ends meanwhile. */
async function freeze(pid: number, ms: number): Promise<void> {
  const script = 'kill -STOP "$1"; sleep "$2"; kill -CONT "$1"';
  await once(spawn("sh", ["-c", script, "sh", String(pid), String(ms / 1000)], { stdio: "ignore" }), "exit");
}
