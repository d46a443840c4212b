/** The options of `new Wadi`, and the list of their names. */
import type { StoreOptions } from "../core/session/store.ts";
import type { SubmitterOptions } from "./submit/submitter.ts";

export interface WadiOptions extends StoreOptions, SubmitterOptions {
  /**
   * Names the database within this process. Every `Wadi` of one database wakes the waits and workers of the others, also
   * those of other copies of this module, as bundlers make them. Needed where the driver does not know it (libSQL and
   * Neon, unless they share one client). @default what the driver knows: file, host and database, or the client object
   */
  readonly database?: string | undefined;
}

export const WADI_OPTIONS = Object.keys({
  requestRetry: true,
  clock: true,
  maxQueueDepth: true,
  maxQueueWaitMs: true,
  metadata: true,
  keysAcrossNames: true,
  database: true,
} satisfies Record<keyof WadiOptions, true>);
