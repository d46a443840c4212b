/** Pausing queues and names for the whole fleet: what a `Wadi` offers, and the checks and notifications behind it. */
import { type CompleteChecks, checkOptions, optional } from "../../core/check-options.ts";
import { InvalidArgument } from "../../core/errors/errors.ts";
import {
  listPauses,
  listQueues,
  type Pause,
  type PausedLane,
  pauseLane,
  resumeLane,
} from "../../core/operations/pause.ts";
import type { Session } from "../../core/session/session.ts";
import { text } from "../../core/validate.ts";
import { type CallOptions, directCall } from "../call-options.ts";
import type { WadiInternals } from "../internals.ts";

/** What is paused or resumed: a queue, a name in every queue, or a name in one queue. */
export interface PauseTarget {
  /** The queue. @default every queue, for a `name` */
  readonly queue?: string | undefined;
  /** The name of the tasks. @default every name of the `queue` */
  readonly name?: string | undefined;
}

/** The methods of a `Wadi` that pause and resume. */
export interface TaskPauses {
  /**
   * Pauses a queue, a name, or a name in a queue: no worker of the fleet claims such tasks until you resume it. Returns
   * the pause; one that is in force already stays as it is. Tasks that were claimed before run on, submits are
   * accepted, and tasks expire as they would otherwise.
   *
   * @throws {InvalidArgument} without a queue and a name.
   * @example
   * ```ts
   * await wadi.pause({ queue: "mail" });
   * await wadi.pause({ name: "image.resize" });
   * ```
   */
  pause(target: PauseTarget, call?: CallOptions): Promise<Pause>;

  /**
   * Ends one pause, of exactly this queue and name, and wakes idle workers as a submit does. Returns the other pauses
   * that still hold some of these tasks: after `resume({ queue: "mail" })` those of the names in it. Without such a
   * pause nothing changes.
   *
   * @throws {InvalidArgument} without a queue and a name.
   * @example
   * ```ts
   * const stillPaused = await wadi.resume({ queue: "mail" });
   * ```
   */
  resume(target: PauseTarget, call?: CallOptions): Promise<Pause[]>;

  /**
   * Lists the pauses that are in force, by queue and name; with a target those that hold some of its tasks.
   *
   * @example
   * ```ts
   * for (const { queue, name, pausedAtMs } of await wadi.pauses()) console.log(queue, name, new Date(pausedAtMs));
   * ```
   */
  pauses(target?: PauseTarget, call?: CallOptions): Promise<Pause[]>;
}

const TARGET = { queue: optional(text), name: optional(text) } satisfies CompleteChecks<PauseTarget>;

/** An option that is undefined by mistake must not pause everything. */
function laneOf(method: "pause" | "resume", target: PauseTarget): PausedLane {
  const lane = checkOptions(method, target, TARGET);
  if (lane.queue === null && lane.name === null)
    throw new InvalidArgument(
      `${method} needs a queue, a name or both, got neither; pass { queue } or { name }`,
    );
  return lane;
}

/** @throws {InvalidArgument} */
export function pause(session: Session, target: PauseTarget, call?: CallOptions): Promise<Pause> {
  return session.execute(pauseLane(session.target, laneOf("pause", target)), directCall("pause", call));
}

/** Resumes, and wakes the workers of the lane as a submit does. */
export async function resumeAndNotify(
  { session, notifier, waker, hint }: WadiInternals,
  target: PauseTarget,
  call?: CallOptions,
): Promise<Pause[]> {
  const { queue, name } = laneOf("resume", target);
  const options = directCall("resume", call);
  const others = await session.execute(resumeLane(session.target, { queue, name }), options);
  notifier.queued(queue === null ? null : [queue]);
  hint?.touch();
  if (waker !== null) {
    const queues = queue === null ? await session.execute(listQueues(session.target), options) : [queue];
    void waker.kickQueues(queues, name === null ? [] : [name]);
  }
  return others;
}

export function listPausesOf(
  session: Session,
  target: PauseTarget = {},
  call?: CallOptions,
): Promise<Pause[]> {
  const lane = checkOptions("pauses", target, TARGET);
  return session.execute(listPauses(session.target, lane), directCall("pauses", call));
}
