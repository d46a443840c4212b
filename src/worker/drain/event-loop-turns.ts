import { monotonicMs } from "../../core/monotonic-clock.ts";
import { nextTurn } from "./next-turn.ts";

/** How long handlers that never wait may occupy the event loop before answers and timers get a turn. */
const MAX_TURN_MS = 10;
/** Microtask turns in which handlers that end at the same time join one settlement. */
const JOIN_TURNS = 8;

/** The parts of a drain that its turns use. */
export interface EventLoopTurnsParts {
  /** Woken when the next turn begins. */
  readonly waiting: { wake(): void };
  /** Fails if the platform grants no turn. */
  readonly trips: { fail(error: unknown): void };
  readonly held: {
    readonly running: { readonly size: number };
    readonly outbox: { readonly length: number };
  };
}

/** Stops starting handlers for one turn of the event loop, so that requests, answers and timers get theirs. */
export class EventLoopTurns {
  #isYielding = false;
  #beganAtMs = monotonicMs();
  readonly #parts: EventLoopTurnsParts;

  constructor(parts: EventLoopTurnsParts) {
    this.#parts = parts;
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
    const { trips, waiting } = this.#parts;
    nextTurn().then(
      () => {
        this.#isYielding = false;
        this.#beganAtMs = monotonicMs();
        waiting.wake();
      },
      (error) => trips.fail(error),
    );
  }

  /** Lets handlers that end in the same turn join one settlement: N tasks cost N / joined round trips. */
  async letHandlersEnd(): Promise<void> {
    const { held } = this.#parts;
    for (let turn = 0; turn < JOIN_TURNS && held.running.size > 0; turn++) await null;
    if (held.running.size > 0 && held.outbox.length > 0) await nextTurn();
  }
}
