import { afterAll, expect, test } from "vitest";
import { Crew } from "./support/crew.ts";
import { openDatabase, type RaceTarget } from "./support/databases.ts";
import type { KeyedAnswer } from "./support/jobs.ts";
import { checkKeys, countRaces } from "./support/keyed-answers.ts";

const CONNECTIONS = 16;
/** Racers wait for each other after so many keys, or they would drift apart and never meet at one key. */
const KEYS_A_ROUND = 5;
const POLICIES = ["reuse", "reuse-succeeded", "reject", "replace"] as const;

const crew = new Crew();
afterAll(() => crew.end());

/** Fewer keys where another client sends the same SQL to the same engine. */
const TARGETS: readonly (readonly [RaceTarget, number])[] = [
  ["better-sqlite3-file", 150],
  ["pg", 150],
  ["d1", 150],
  ["libsql-file", 40],
  ["libsql-http", 40],
  ["neon-http", 40],
];

test.each(TARGETS)(
  "16 connections that submit the same new keys at once end with one live task a key, on every policy, %s, %i keys",
  { timeout: 120_000 },
  async (target, count) => {
    const database = await openDatabase(target);
    try {
      const wadi = await database.connect();
      await wadi.migrate();
      const racers = await database.racers(CONNECTIONS, crew);
      for (const conflict of POLICIES) {
        const keys = Array.from({ length: count }, (_, index) => `${conflict}-${index}`);
        const answers: KeyedAnswer[][] = racers.map(() => []);
        for (let next = 0; next < count; next += KEYS_A_ROUND) {
          const args = { name: conflict, keys: keys.slice(next, next + KEYS_A_ROUND), conflict };
          await Promise.all(
            racers.map(async (racer, i) => answers[i]!.push(...(await racer.run("submitKeys", args)))),
          );
        }
        await checkKeys(wadi, { name: conflict, conflict, keys, answers });
        // Else there was no race to win.
        expect(countRaces(answers)).toBeGreaterThan(count / 2);
      }
      await Promise.all(racers.map((racer) => racer.close()));
    } finally {
      await database.close();
    }
  },
);
