import Database from "better-sqlite3";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import { Wadi, type WadiOptions } from "../src/index.ts";

/** A client on an empty in-memory database, for tests of behaviour that all databases share. */
export function memoryWadi(options?: WadiOptions): Wadi {
  return new Wadi(betterSqlite3(new Database(":memory:")), options);
}

/** A clock that only the test moves. It starts at the real time, so that it agrees with timers. */
export class ManualClock {
  nowMs = Date.now();

  advance(ms: number): void {
    this.nowMs += ms;
  }

  readonly read = (): number => this.nowMs;
}
