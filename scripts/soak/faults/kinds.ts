/** The kinds of fault. */
export const KINDS = [
  "dropped", // a request never arrives, its connection breaks
  "delayed", // a request arrives late, some of them after the lease that they speak of
  "doubled", // a request arrives twice
  "lostAnswers", // a request is carried out, and its connection breaks before the answer
  "halfOpen", // a connection stays open and carries nothing any more
  "failover", // the server becomes read-only, ends its connections, or restarts
  "poison", // a handler takes its process down
  "queryLimit", // an invocation has sent as many queries as its platform allows
] as const;

export type Kind = (typeof KINDS)[number];

/** A fault that has happened. */
export interface Fault {
  readonly kind: Kind;
  /** The worker it hit; null if it hit all of them. */
  readonly worker: string | null;
  /** When it began, in epoch milliseconds. */
  readonly atMs: number;
  /** When it had passed and the worker could recover, in epoch milliseconds. */
  readonly overAtMs: number;
}

/** The faults so far. */
export class FaultLog {
  readonly faults: Fault[] = [];

  /** Records a fault that is over after `lastsMs`. */
  add(kind: Kind, worker: string | null, lastsMs = 0): void {
    const atMs = Date.now();
    this.faults.push({ kind, worker, atMs, overAtMs: Math.round(atMs + lastsMs) });
  }

  get counts(): Record<Kind, number> {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
    for (const { kind } of this.faults) counts[kind]++;
    return counts;
  }
}
