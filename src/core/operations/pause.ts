/** Pauses of queues and names: which tasks no worker of the fleet claims. */

import type { Row } from "../executor.ts";
import { numberOrNull } from "./decode-task.ts";
import { type Operation, type SqlTarget, single } from "./operation.ts";
import { bind } from "./statement.ts";

/** A queue, a name, or a name in a queue; null stands for every queue, or every name. */
export interface PausedLane {
  readonly queue: string | null;
  readonly name: string | null;
}

/** A pause that is in force. */
export interface Pause {
  /** The queue; null: every queue. */
  readonly queue: string | null;
  /** The name of the tasks; null: every name. */
  readonly name: string | null;
  /** Since when, in epoch milliseconds by the database's clock. */
  readonly pausedAtMs: number;
}

/** Stores a pause, or leaves the one that is there, and returns it. */
export function pauseLane(target: SqlTarget, lane: PausedLane): Operation<Pause> {
  const list = listPauses(target, lane);
  return {
    name: "pause",
    statements: [bind(target, "insert_pause", columns(lane)), ...list.statements],
    decode: ([, rows]) => list.decode([rows!]).find((pause) => isOf(pause, lane))!,
  };
}

/** Ends a pause, and returns the others that still hold tasks of its lane. */
export function resumeLane(target: SqlTarget, lane: PausedLane): Operation<Pause[]> {
  const list = listPauses(target, lane);
  return {
    name: "resume",
    statements: [bind(target, "delete_pause", columns(lane)), ...list.statements],
    decode: ([, rows]) => list.decode([rows!]),
  };
}

/** Lists the pauses that hold tasks of a lane. */
export function listPauses(target: SqlTarget, lane: PausedLane): Operation<Pause[]> {
  return single("pauses", bind(target, "select_pauses", columns(lane)), (rows) => rows.map(decodePause));
}

/** Lists the queues that have queued tasks. */
export function listQueues(target: SqlTarget): Operation<string[]> {
  return single("queues", bind(target, "select_queues", {}), (rows) =>
    rows.map(({ queue }) => String(queue)),
  );
}

function columns({ queue, name }: PausedLane): { readonly queue: string; readonly name: string } {
  return { queue: queue ?? "", name: name ?? "" };
}

function decodePause({ queue, name, paused_at_ms }: Row): Pause {
  return {
    queue: queue === "" ? null : String(queue),
    name: name === "" ? null : String(name),
    pausedAtMs: numberOrNull(paused_at_ms)!,
  };
}

function isOf(pause: Pause, { queue, name }: PausedLane): boolean {
  return pause.queue === queue && pause.name === name;
}
