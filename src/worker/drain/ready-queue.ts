import type { Attempt } from "../handler/attempt.ts";
import type { ByteBudget } from "./byte-budget.ts";

/** Tasks that are claimed and not started, in the order of their claims. */
export class ReadyQueue {
  #attempts: Attempt[] = [];
  /** Those before it are taken. */
  #head = 0;
  /** Those that must not start before that is announced. */
  held = 0;
  readonly #bytes: ByteBudget;

  constructor(bytes: ByteBudget) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#attempts.length - this.#head;
  }

  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
    this.#count(attempt, 1);
  }

  /** Takes the first one that may start. */
  take(mayStart: (attempt: Attempt) => boolean): Attempt | null {
    for (let at = this.#head; at < this.#attempts.length; at++) {
      const attempt = this.#attempts[at]!;
      if (!mayStart(attempt)) continue;
      if (at === this.#head) this.#head++;
      else this.#attempts.splice(at, 1);
      if (this.#head === this.#attempts.length) this.#reset([]);
      this.#count(attempt, -1);
      return attempt;
    }
    return null;
  }

  /** Takes those that `matches`, all of them by default. */
  takeAll(matches: (attempt: Attempt) => boolean = () => true): Attempt[] {
    const taken: Attempt[] = [];
    const kept: Attempt[] = [];
    for (const attempt of this) (matches(attempt) ? taken : kept).push(attempt);
    this.#reset(kept);
    for (const attempt of taken) this.#count(attempt, -1);
    return taken;
  }

  /**
   * Of those at the front that are to be announced, the last one of each lease, so that at least `window` tasks may start;
   * none if as many may.
   */
  heldWithin(window: number): Attempt[] {
    if (this.held === 0 || this.size - this.held >= window) return [];
    const last = new Map<unknown, Attempt>();
    let count = this.size - this.held;
    for (const attempt of this) {
      if (!attempt.isHeld || attempt.task.crashes > 0) continue;
      last.set(attempt.lease, attempt);
      if (++count >= window) break;
    }
    return [...last.values()];
  }

  countHeld(): void {
    this.held = 0;
    for (const attempt of this) if (attempt.isHeld) this.held++;
  }

  takeLast(): Attempt | null {
    if (this.size === 0) return null;
    const attempt = this.#attempts.pop()!;
    this.#count(attempt, -1);
    return attempt;
  }

  *[Symbol.iterator](): IterableIterator<Attempt> {
    for (let at = this.#head; at < this.#attempts.length; at++) yield this.#attempts[at]!;
  }

  #count({ bytes, member, isHeld }: Attempt, sign: 1 | -1): void {
    if (isHeld) this.held += sign;
    this.#bytes.ready += sign * bytes;
    member.ready += sign;
  }

  #reset(attempts: Attempt[]): void {
    this.#attempts = attempts;
    this.#head = 0;
  }
}
