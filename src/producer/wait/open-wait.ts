import { byteLength } from "../../core/json/json.ts";
import type { TaskRef, TaskState } from "../../core/operations/read.ts";
import type { Task } from "../../core/task.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import type { PollPace } from "./poll-pace.ts";

/** What a wait reports to the method that began it. After `timedOut`, `failed` and the last `ended` nothing follows. */
export interface WaitEvents {
  /** Every state that is read of a watched task; null if there is no task. */
  seen?(state: TaskState | null): void;
  /** The task of one reference is terminal. */
  ended(ref: OpenRef, task: Task): void;
  /** The time is up. `task` is as last seen; `error` is why the database could not be asked, if it could not. */
  timedOut(task: Task | null, error: unknown): void;
  failed(error: unknown): void;
}

/**
 * - `one`: the end of one task; its row is read when the time is up.
 * - `many`: the ends of many.
 * - `changes`: each state of one task.
 */
export type WaitKind = "one" | "many" | "changes";

/** One id or key that a wait is for. */
export class OpenRef {
  readonly wait: OpenWait;
  readonly ref: TaskRef;
  /** The task whose end is subscribed to. */
  id: string | null = null;
  /** The task whose row is to be read; null if the key has to be resolved first. */
  rowId: string | null = null;
  isReading = false;
  /** When its row was asked for. */
  readAtMs = 0;
  unsubscribe: () => void = () => {};
  #bytes: number | undefined;

  constructor(wait: OpenWait, ref: TaskRef) {
    this.wait = wait;
    this.ref = ref;
  }

  get name(): string {
    return "id" in this.ref ? this.ref.id : this.ref.key;
  }

  /** What it takes in a JSON array. */
  get bytes(): number {
    this.#bytes ??= byteLength(JSON.stringify(this.name)) + 1;
    return this.#bytes;
  }
}

/** One wait while it is open: what it is for, its pace, and the timer it sleeps on. */
export class OpenWait {
  readonly kind: WaitKind;
  readonly pace: PollPace;
  readonly events: WaitEvents;
  readonly refs = new Set<OpenRef>();
  /** What the loop had sent when it began. */
  readonly sentBefore: number;
  isOpen = true;
  /** Not polled: its task is not submitted yet, or the caller has not asked for the next change. */
  isResting: boolean;
  resumedAtMs = 0;
  /** References to tasks whose end was reported. */
  readonly told = new Set<OpenRef>();
  /** References whose rows are being read. */
  reading = 0;
  /** Whether it has looked after its time was up. */
  isFinal = false;
  /** Failed polls in a row, and what the last one met. */
  failures = 0;
  error: unknown;
  /** The newest poll whose answer it has seen. */
  answered = 0;
  /** When it asks for a poll, on the monotonic clock; later while one is on its way. */
  nextAtMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => {};

  constructor(
    kind: WaitKind,
    refs: readonly TaskRef[],
    pace: PollPace,
    events: WaitEvents,
    sentBefore: number,
    isResting: boolean,
  ) {
    this.kind = kind;
    this.pace = pace;
    this.events = events;
    this.sentBefore = sentBefore;
    this.isResting = isResting;
    this.nextAtMs = pace.dueAtMs;
    for (const ref of refs) this.refs.add(new OpenRef(this, ref));
  }

  /** Takes over when the next poll is due. */
  reschedule(): void {
    this.nextAtMs = this.pace.dueAtMs;
    this.wake();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (ms <= MAX_TIMER_MS) this.#timer = setTimeout(resolve, Math.max(0, Math.ceil(ms)));
    });
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#wake();
  }
}
