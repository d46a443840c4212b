import { monotonicMs } from "../../core/monotonic-clock.ts";
import { nextTurn } from "./next-turn.ts";

/** How long handlers that never wait may occupy the event loop before answers and timers get a turn. */
const MAX_TURN_MS = 10;
/** Microtask turns in which handlers that end at the same time join one settlement. */
const JOIN_TURNS = 8;

interface Held {
  readonly running: { readonly size: number };
  readonly outbox: { readonly length: number };
}

/** Stops starting handlers for one turn of the event loop, so that requests, answers and timers get theirs. */
export class EventLoopTurns {
  #isYielding = false;
  #beganAtMs = monotonicMs();
  readonly #onTurn: () => void;
  readonly #onError: (error: unknown) => void;

  /** `onTurn` is called when the next turn begins, `onError` if the platform grants none. */
  constructor(onTurn: () => void, onError: (error: unknown) => void) {
    this.#onTurn = onTurn;
    this.#onError = onError;
  }

  get isYielding(): boolean {
    return this.#isYielding;
  }

  /** Yields if this turn has taken too long. */
  yieldIfLong(nowMs: number): void {
    if (nowMs - this.#beganAtMs > MAX_TURN_MS) this.yieldTurn();
  }

  /** Yields until the next turn. */
  yieldTurn(): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    nextTurn().then(() => {
      this.#isYielding = false;
      this.#beganAtMs = monotonicMs();
      this.#onTurn();
    }, this.#onError);
  }

  /** Lets handlers that end in the same turn join one settlement: N tasks cost N / joined round trips. */
  async letHandlersEnd(held: Held): Promise<void> {
    for (let turn = 0; turn < JOIN_TURNS && held.running.size > 0; turn++) await null;
    if (held.running.size > 0 && held.outbox.length > 0) await nextTurn();
  }
}
