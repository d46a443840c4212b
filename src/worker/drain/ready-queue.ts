import type { Attempt } from "../handler/attempt.ts";
import type { ByteBudget } from "./byte-budget.ts";

/** Claimed tasks of one pool that have not started, in the order of their claims. */
export class ReadyQueue {
  #attempts: Attempt[] = [];
  /** Index of the first one: those before it are taken. */
  #head = 0;
  #unannounced = 0;
  readonly #bytes: ByteBudget;

  constructor(bytes: ByteBudget) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#attempts.length - this.#head;
  }

  /** Whether there are tasks, and none may start before a round trip has announced it. */
  get isAllUnannounced(): boolean {
    return this.size > 0 && this.size === this.#unannounced;
  }

  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
    this.#added(attempt);
  }

  /** Takes the first one that may start. */
  take(mayStart: (attempt: Attempt) => boolean): Attempt | null {
    for (let at = this.#head; at < this.#attempts.length; at++) {
      const attempt = this.#attempts[at]!;
      if (!mayStart(attempt)) continue;
      if (at === this.#head) this.#head++;
      else this.#attempts.splice(at, 1);
      if (this.#head === this.#attempts.length) this.#reset([]);
      this.#removed(attempt);
      return attempt;
    }
    return null;
  }

  /** Takes those for which `matches` is true, all of them by default. */
  takeAll(matches: (attempt: Attempt) => boolean = () => true): Attempt[] {
    const taken: Attempt[] = [];
    const kept: Attempt[] = [];
    for (const attempt of this) (matches(attempt) ? taken : kept).push(attempt);
    this.#reset(kept);
    for (const attempt of taken) this.#removed(attempt);
    return taken;
  }

  takeLast(): Attempt | null {
    if (this.size === 0) return null;
    const attempt = this.#attempts.pop()!;
    this.#removed(attempt);
    return attempt;
  }

  /**
   * Attempts to announce so that at least `window` tasks may start; none if as many may already. The last one of each
   * lease stands for those before it.
   */
  toAnnounce(window: number): Attempt[] {
    let startable = this.size - this.#unannounced;
    if (this.#unannounced === 0 || startable >= window) return [];
    const last = new Map<unknown, Attempt>();
    for (const attempt of this) {
      if (!attempt.isOnHold || attempt.task.crashes > 0) continue;
      last.set(attempt.lease, attempt);
      if (++startable >= window) break;
    }
    return [...last.values()];
  }

  /** The starts of those for which `isAnnounced` is true are stored. */
  announced(isAnnounced: (attempt: Attempt) => boolean): void {
    this.#unannounced = 0;
    for (const attempt of this) {
      if (attempt.isOnHold && isAnnounced(attempt)) attempt.announced();
      if (attempt.isOnHold) this.#unannounced++;
    }
  }

  *[Symbol.iterator](): IterableIterator<Attempt> {
    for (let at = this.#head; at < this.#attempts.length; at++) yield this.#attempts[at]!;
  }

  #added({ bytes, handler, isOnHold }: Attempt): void {
    if (isOnHold) this.#unannounced++;
    this.#bytes.queued(bytes);
    handler.queued();
  }

  #removed({ bytes, handler, isOnHold }: Attempt): void {
    if (isOnHold) this.#unannounced--;
    this.#bytes.dequeued(bytes);
    handler.dequeued();
  }

  #reset(attempts: Attempt[]): void {
    this.#attempts = attempts;
    this.#head = 0;
  }
}
