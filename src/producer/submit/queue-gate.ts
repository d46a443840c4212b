/** Stage 4 of a submit, for one queue: who waits for room in it, and how much room the last read found. */
import { backoffDelay } from "../../core/backoff.ts";
import { QueueFull } from "../../core/errors/errors.ts";
import { monotonicMs } from "../../core/monotonic-clock.ts";
import { queueHeadroom } from "../../core/operations/read.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { hasEnded, type OperationOptions } from "../../core/session/operation-options.ts";
import type { Session } from "../../core/session/session.ts";
import { sleep } from "../../core/timers.ts";
import { countExempt } from "./backpressure-exempt.ts";

export interface QueueGateOptions {
  readonly queue: string;
  readonly maxDepth: number;
  readonly maxWaitMs: number;
}

/** How long the room that a read found may be used without another read. */
const CREDIT_MS = 1000;
const PAUSE = { baseMs: 50, capMs: 1000 };

/** A submit that waits for room. */
interface Waiter {
  readonly count: number;
  /** Its tasks with a key: the key may have a task already, and then they need no room. */
  readonly keyed: readonly NewTask[];
  /** How many of them needed no room when the read `readAt` was the newest. */
  withoutRoom: { readonly count: number; readonly readAt: number };
  readonly beganAtMs: number;
  readonly endMs: number;
  readonly call: OperationOptions;
  /** The tick at which it came, or resumed after a pause. */
  cameAt: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Admits submits into one queue while it has room, in the order in which they come. */
export class QueueGate {
  readonly #session: Session;
  readonly #options: QueueGateOptions;
  readonly #waiting: Waiter[] = [];
  /** Tasks that may still be submitted by the newest read of the room, until `#creditEndsMs`. */
  #credit = 0;
  #creditEndsMs = 0;
  /** Orders arrivals and reads. */
  #tick = 0;
  /** The tick of the newest read. */
  #readAt = 0;

  constructor(session: Session, options: QueueGateOptions) {
    this.#session = session;
    this.#options = options;
  }

  /**
   * Resolves once there is room for all of these.
   *
   * @throws {QueueFull} if there is none in time.
   */
  pass(tasks: readonly NewTask[], call: OperationOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const beganAtMs = monotonicMs();
      const waiter: Waiter = {
        count: tasks.length,
        keyed: tasks.filter(({ key }) => key !== null),
        withoutRoom: { count: 0, readAt: 0 },
        beganAtMs,
        endMs: beganAtMs + this.#options.maxWaitMs,
        call,
        cameAt: ++this.#tick,
        resolve,
        reject,
      };
      // In the next microtask, so that submits of one tick share a read.
      if (this.#waiting.push(waiter) === 1) queueMicrotask(() => this.#admit());
    });
  }

  /** Submits that one read admits are resolved in one turn, so that they share a round trip. */
  async #admit(): Promise<void> {
    const waiting = this.#waiting;
    for (let pauses = 1; waiting.length > 0; ) {
      const first = waiting[0]!;
      if (hasEnded(first.call)) {
        waiting.shift(); // its caller has left
        continue;
      }
      const isRead = this.#readAt > first.cameAt; // a read for another submit serves this one, if it came before it
      const leftMs = first.endMs - monotonicMs();
      const needed = first.count - first.withoutRoom.count;
      if (this.#credit >= needed && (isRead || monotonicMs() < this.#creditEndsMs)) {
        this.#credit -= needed;
        pauses = 1;
        first.resolve();
      } else if (!isRead) {
        if (await this.#readRoom(first)) continue;
      } else if (first.keyed.length > 0 && first.withoutRoom.readAt !== this.#readAt) {
        if (await this.#readExisting(first)) continue;
      } else if (leftMs > 0) {
        await sleep(Math.min(leftMs, backoffDelay(PAUSE, pauses++)));
        first.cameAt = ++this.#tick;
        continue;
      } else {
        const { queue, maxDepth } = this.#options;
        first.reject(new QueueFull(queue, maxDepth, monotonicMs() - first.beganAtMs));
      }
      waiting.shift();
    }
  }

  /** False if the read failed, and the waiter with it. */
  async #readRoom(waiter: Waiter): Promise<boolean> {
    const { queue, maxDepth } = this.#options;
    const readAt = ++this.#tick;
    const creditEndsMs = monotonicMs() + CREDIT_MS;
    const { deadlineMs } = waiter.call;
    const operation = queueHeadroom(this.#session.target, queue, maxDepth);
    const room = await this.#session.execute(operation, { deadlineMs }).catch(waiter.reject);
    if (room === undefined) return false;
    this.#readAt = readAt;
    this.#credit = room;
    this.#creditEndsMs = creditEndsMs;
    return true;
  }

  /** False if the read failed, and the waiter with it. */
  async #readExisting(waiter: Waiter): Promise<boolean> {
    const readAt = this.#readAt;
    const count = await countExempt(this.#session, waiter.keyed, waiter.call).catch(waiter.reject);
    if (count === undefined) return false;
    waiter.withoutRoom = { count, readAt };
    return true;
  }
}
