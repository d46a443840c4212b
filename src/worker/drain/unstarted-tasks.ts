import type { Attempt } from "../handler/attempt.ts";
import type { HeldTasksParts } from "./held-tasks-parts.ts";
import type { SlotPool } from "./slot-pool.ts";

/** The claimed tasks of a drain that have not started: ready in their pools, or blocked by an unreturned call. */
export class UnstartedTasks {
  readonly #parts: HeldTasksParts;
  readonly #onReady: () => void;
  readonly #blocked = new Set<Attempt>();

  /** `onReady` is called when a blocked task may have become ready. */
  constructor(parts: HeldTasksParts, onReady: () => void) {
    this.#parts = parts;
    this.#onReady = onReady;
  }

  /** How many tasks are ready. */
  get ready(): number {
    return this.#parts.pools.reduce((sum, { ready }) => sum + ready.size, 0);
  }

  get isEmpty(): boolean {
    return this.ready === 0 && this.#blocked.size === 0;
  }

  add(attempt: Attempt, pool: SlotPool): void {
    const retry = () => {
      if (!this.#blocked.delete(attempt)) return;
      this.add(attempt, pool);
      this.#onReady();
    };
    if (this.#parts.settings.unreturned.blocks(attempt, retry)) this.#blocked.add(attempt);
    else pool.ready.add(attempt);
  }

  takeAll(matches: (attempt: Attempt) => boolean): Attempt[] {
    const ready = this.#parts.pools.flatMap((pool) => pool.ready.takeAll(matches));
    const blocked = [...this.#blocked].filter(matches);
    for (const attempt of blocked) this.#blocked.delete(attempt);
    return [...ready, ...blocked];
  }

  /** Releases the last ready tasks while they have more bytes than may be claimed ahead. */
  releaseSurplus(): void {
    const { pools, bytes } = this.#parts;
    for (const pool of pools) {
      while (pool.waiting > 0 && bytes.isReadyOver) {
        pool.ready.takeLast()!.release();
        bytes.readyOverflowed();
        pool.expectDueTasks();
      }
    }
  }

  *[Symbol.iterator](): IterableIterator<Attempt> {
    for (const { ready } of this.#parts.pools) yield* ready;
    yield* this.#blocked;
  }
}
