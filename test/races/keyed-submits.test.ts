// Connections that submit the same keys at once.

import { afterAll, expect, test } from "vitest";
import { openDatabase, RACE_TARGETS } from "../../testing/races/databases.ts";
import type { KeyedAnswer } from "../../testing/races/jobs.ts";
import { checkKeys, countRaces } from "../../testing/races/keyed-answers.ts";
import { RacerProcesses } from "../../testing/races/racer-processes.ts";

const CONNECTIONS = 16;
/** Racers wait for each other after so many keys, or they would drift apart and never meet at one key. */
const KEYS_A_ROUND = 5;
const POLICIES = ["reuse", "reuse-succeeded", "reject", "replace"] as const;

const processes = new RacerProcesses();
afterAll(() => processes.end());

const KEYS = 150;
test.each(RACE_TARGETS)(
  "16 connections that submit the same new keys at once end with one live task a key, on every policy, %s",
  { timeout: 120_000 },
  async (target) => {
    const database = await openDatabase(target);
    try {
      const wadi = await database.connect();
      await wadi.migrate();
      const racers = await database.racers(CONNECTIONS, processes);
      for (const conflict of POLICIES) {
        const keys = Array.from({ length: KEYS }, (_, index) => `${conflict}-${index}`);
        const answers: KeyedAnswer[][] = racers.map(() => []);
        for (let next = 0; next < KEYS; next += KEYS_A_ROUND) {
          const args = { name: conflict, keys: keys.slice(next, next + KEYS_A_ROUND), conflict };
          await Promise.all(
            racers.map(async (racer, i) => answers[i]!.push(...(await racer.run("submitKeys", args)))),
          );
        }
        await checkKeys(wadi, { name: conflict, conflict, keys, answers });
        // Else there was no race to win.
        expect(countRaces(answers)).toBeGreaterThan(KEYS / 2);
      }
      await Promise.all(racers.map((racer) => racer.close()));
    } finally {
      await database.close();
    }
  },
);
