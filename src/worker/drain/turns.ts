import { monotonicMs } from "../../core/clock.ts";
import { nextTurn } from "./next-turn.ts";

/** Handlers that never wait may hold the event loop for this long until answers and timers have their turn. */
const TURN_MS = 10;
/** Turns of the microtask queue in which handlers that end at once are gathered into one settlement. */
const GATHER_TURNS = 8;

interface Gathered {
  readonly running: { readonly size: number };
  readonly outbox: { readonly length: number };
}

/** When handlers may start, and when the event loop belongs to others: to requests, answers and timers. */
export class Turns {
  #isYielding = false;
  #beganAtMs = monotonicMs();
  readonly #onTurn: () => void;
  readonly #onFault: (error: unknown) => void;

  /** `onFault` is called where a turn cannot be had. */
  constructor(onTurn: () => void, onFault: (error: unknown) => void) {
    this.#onTurn = onTurn;
    this.#onFault = onFault;
  }

  /** Until the next turn nothing starts, so that requests go out and answers come in. */
  get isYielding(): boolean {
    return this.#isYielding;
  }

  /** Ends a turn that took too long. */
  check(nowMs: number): void {
    if (nowMs - this.#beganAtMs > TURN_MS) this.yield();
  }

  yield(): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    nextTurn().then(() => {
      this.#isYielding = false;
      this.#beganAtMs = monotonicMs();
      this.#onTurn();
    }, this.#onFault);
  }

  /** Lets handlers that end in the same turn join one settlement: N tasks cost N / gathered round trips. */
  async gather(held: Gathered): Promise<void> {
    for (let turn = 0; turn < GATHER_TURNS && held.running.size > 0; turn++) await null;
    if (held.running.size > 0 && held.outbox.length > 0) await nextTurn();
  }
}
