/** Schedules as an application writes them: their types. */
import type { AnyTaskDefinition } from "../define-task.ts";
import type { SubmitOptions } from "../submit/submit-options.ts";
import type { PayloadOf } from "../task-types.ts";

/** The slot that a task is queued for: what a payload function gets. */
export interface ScheduleSlot {
  /** The time by the expression, which is not when the task is queued or runs. */
  readonly slot: Date;
  /** The last slot before it that got a task; null for the first one. */
  readonly previousSlot: Date | null;
}

/** A payload, or a function that makes it for each slot. */
export type SchedulePayload<Input> = unknown extends Input
  ? object | string | number | boolean | null | ((slot: ScheduleSlot) => unknown)
  : Input | ((slot: ScheduleSlot) => Input | Promise<Input>);

/** Options of the tasks that a schedule queues, as a submit takes them. */
export type ScheduledTaskOptions = Pick<
  SubmitOptions,
  | "queue"
  | "maxAttempts"
  | "maxCrashes"
  | "priority"
  | "metadata"
  | "correlationId"
  | "limits"
  | "expiresInMs"
  | "onFailed"
>;

/** When to queue which task. Exactly one of `cron` and `everyMs`. */
export interface Schedule<T extends string | AnyTaskDefinition = string | AnyTaskDefinition> {
  /** Unique in its group. At most 400 characters. */
  readonly name: string;
  /** The task to queue: a definition or a name. */
  readonly task: T;
  /**
   * Payload of each task, or a function of its slot. A function runs in a worker that has this definition in its
   * `schedules`; `wadi.schedules.set` takes none.
   * @default {}
   */
  readonly payload?: SchedulePayload<PayloadOf<T>> | undefined;
  /**
   * Five fields (minute, hour, day of month, month, day of week), or six with seconds first; or `@hourly`, `@daily`,
   * `@weekly`, `@monthly`, `@yearly`. If both days are given, either may match: `0 9 13 * 5` is the 13th or a Friday.
   */
  readonly cron?: string | undefined;
  /** Distance of the slots in milliseconds, counted from `startAt`. Minimum `1000`. */
  readonly everyMs?: number | undefined;
  /** IANA zone in which `cron` is read. @default "UTC" */
  readonly timeZone?: string | undefined;
  /**
   * Slots that no worker fired in time. `latest`: only the last of them gets a task. `skip`: only a slot that is at
   * most `graceMs` late does. `all`: each gets one, the last `max` of them at most.
   * @default "latest"
   */
  readonly missed?: "latest" | "skip" | "all" | undefined;
  /** Most tasks queued at a time under `missed: "all"`, which needs it. From 1 to 100. */
  readonly max?: number | undefined;
  /**
   * How late a slot may be queued, in milliseconds. Minimum `0`.
   * @default no limit; 60000 with `missed: "skip"`
   */
  readonly graceMs?: number | undefined;
  /**
   * If the last task of the schedule has not ended when a slot is due. `allow`: both run. `skip`: the slot gets no
   * task. `replace`: the last one is canceled. Only `allow` goes with `missed: "all"`.
   * @default "allow"
   */
  readonly overlap?: "allow" | "skip" | "replace" | undefined;
  /** No slot before this, as a Date or epoch milliseconds. @default none */
  readonly startAt?: Date | number | undefined;
  /** No slot at or after this, as a Date or epoch milliseconds. @default none */
  readonly endAt?: Date | number | undefined;
  /** Each task is due up to this many milliseconds after its slot, the same for all workers. Minimum `0`. @default 0 */
  readonly jitterMs?: number | undefined;
  /** Whether it fires nothing. A pause by `wadi.schedules.pause` stays whatever this says. @default false */
  readonly paused?: boolean | undefined;
  /**
   * Pauses the schedule once so many of its tasks have failed in a row, counted when the next slot is due. Minimum `1`.
   * @default never
   */
  readonly pauseAfterFailures?: number | undefined;
  /** Options of its tasks. The `metadata` of the `Wadi` is not added to them. @default those of the definition */
  readonly options?: ScheduledTaskOptions | undefined;
}

/** A schedule whose payload may be omitted only where its task takes `{}`, or is a name. */
export type ScheduleOf<T extends string | AnyTaskDefinition> = Schedule<T> &
  (Record<never, never> extends PayloadOf<T> ? unknown : { readonly payload: SchedulePayload<PayloadOf<T>> });
