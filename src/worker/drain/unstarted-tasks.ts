import type { Attempt } from "../handler/attempt.ts";
import type { HeldTasksOptions } from "./held-tasks-options.ts";
import type { SlotPool } from "./slot-pool.ts";
import type { SlotsByLane } from "./slots-by-lane.ts";
import { TasksAwaitingReturn } from "./tasks-awaiting-return.ts";

/** The claimed tasks of a drain that have not started: ready in their pools, or blocked by an unreturned call. */
export class UnstartedTasks {
  readonly #options: HeldTasksOptions;
  readonly #blocked: TasksAwaitingReturn;

  /** `onReady` is called when a blocked task becomes ready. */
  constructor(options: HeldTasksOptions, lanes: SlotsByLane, onReady: () => void) {
    this.#options = options;
    this.#blocked = new TasksAwaitingReturn(options.unreturned, (attempt) => {
      lanes.poolOf(attempt.handler).ready.add(attempt);
      onReady();
    });
  }

  /** How many tasks are ready. */
  get ready(): number {
    return this.#options.pools.reduce((sum, { ready }) => sum + ready.size, 0);
  }

  get isEmpty(): boolean {
    return this.ready === 0 && this.#blocked.size === 0;
  }

  add(attempt: Attempt, pool: SlotPool): void {
    if (!this.#blocked.addIfBlocked(attempt)) pool.ready.add(attempt);
  }

  takeAll(matches: (attempt: Attempt) => boolean): Attempt[] {
    const ready = this.#options.pools.flatMap((pool) => pool.ready.takeAll(matches));
    return [...ready, ...this.#blocked.takeAll(matches)];
  }

  /** Releases the last ready tasks while they have more bytes than may be claimed ahead. */
  releaseSurplus(): void {
    const { pools, bytes } = this.#options;
    for (const pool of pools) {
      while (pool.waiting > 0 && bytes.isReadyOver) {
        pool.ready.takeLast()!.release();
        bytes.readyOverflowed();
        pool.expectDueTasks();
      }
    }
  }

  *[Symbol.iterator](): IterableIterator<Attempt> {
    for (const { ready } of this.#options.pools) yield* ready;
    yield* this.#blocked;
  }
}
