/** The message of `EventLoopBlocked`: how long, who was running, and what to do. */

/** Details of a block of the event loop. */
export interface EventLoopBlockedDetails {
  /** The tasks whose handlers were running when it began. */
  readonly tasks?: readonly { readonly id: string; readonly name: string; readonly attempt: number }[];
  /**
   * Milliseconds that the first lease had left when the block ended; negative if the lease had expired, null if no
   * lease is held.
   */
  readonly leaseLeftMs?: number | null;
  /** CPU time of the process during the block, in milliseconds; null if the platform does not report it. */
  readonly cpuMs?: number | null;
}

/** Most ids that a message names. */
const MAX_IDS = 10;
/** A process that computed for less than this share of a block did not cause it. */
const COMPUTING = 0.5;

/** Whether a process computed for too little of a block to have caused it; null if its CPU time is not known. */
export function wasKeptFromComputing(blockedMs: number, cpuMs: number | null): boolean | null {
  return cpuMs === null ? null : cpuMs < blockedMs * COMPUTING;
}

export function blockedMessage(
  blockedMs: number,
  leaseMs: number,
  running: readonly string[],
  { tasks = [], leaseLeftMs = null, cpuMs = null }: EventLoopBlockedDetails,
): string {
  const who =
    running.length === 0
      ? "no handler was running"
      : `handlers of ${[...new Set(running)].join(", ")} were running${idsOf(tasks)}`;
  const advice =
    cpuMs !== null && wasKeptFromComputing(blockedMs, cpuMs)
      ? `the process computed for only ${Math.round(cpuMs)} ms of it, so the machine is oversubscribed, or ` +
        "a handler waits in a synchronous call; give it more CPU, lower concurrency, or raise leaseMs"
      : "move long computations to a thread, or raise leaseMs";
  const block = `the event loop stood still for ${blockedMs} ms of a lease of ${leaseMs} ms while ${who}`;
  return `${block}${leftOf(leaseLeftMs)}; ${advice}`;
}

function idsOf(tasks: readonly { readonly id: string }[]): string {
  if (tasks.length === 0) return "";
  const more = tasks.length > MAX_IDS ? ` and ${tasks.length - MAX_IDS} more` : "";
  return ` (${tasks
    .slice(0, MAX_IDS)
    .map(({ id }) => id)
    .join(", ")}${more})`;
}

function leftOf(leaseLeftMs: number | null): string {
  if (leaseLeftMs === null) return "";
  if (leaseLeftMs > 0) return `; ${leaseLeftMs} ms of the lease were left`;
  return `; the lease had expired ${-leaseLeftMs} ms before, so that other workers may run these tasks`;
}
