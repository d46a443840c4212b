import type { Attempt } from "./attempt.ts";
import type { ByteBudget } from "./bytes.ts";

/** Tasks that are claimed and not started, in the order of their claims. */
export class Ready {
  #attempts: Attempt[] = [];
  /** Those before it are taken. */
  #head = 0;
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

  takeLast(): Attempt | null {
    if (this.size === 0) return null;
    const attempt = this.#attempts.pop()!;
    this.#count(attempt, -1);
    return attempt;
  }

  *[Symbol.iterator](): IterableIterator<Attempt> {
    for (let at = this.#head; at < this.#attempts.length; at++) yield this.#attempts[at]!;
  }

  #count({ bytes, member }: Attempt, sign: 1 | -1): void {
    this.#bytes.ready += sign * bytes;
    member.ready += sign;
  }

  #reset(attempts: Attempt[]): void {
    this.#attempts = attempts;
    this.#head = 0;
  }
}
