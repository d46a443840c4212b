import { backoffDelay } from "../../core/backoff.ts";
import { monotonicMs } from "../../core/clock.ts";
import { InvalidArgument, QueueFull } from "../../core/errors/errors.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import { type CallOptions, hasEnded } from "../../core/session/call-options.ts";
import type { Store } from "../../core/session/store.ts";
import { MAX_TIMER_MS, sleep } from "../../core/timers.ts";
import { integer } from "../../core/validate.ts";
import { countAnswered } from "./answered-submits.ts";

export interface BackpressureOptions {
  /**
   * Most queued tasks of each queue, or of each queue that is named, before a submit waits or is refused. It is a
   * soft limit: each producer asks for the room there is and spends it for up to a second, beside the others and
   * beside its own submits on their way. From 1 to 1000000. @default no limit
   */
  readonly maxQueueDepth?: number | { readonly [queue: string]: number } | undefined;
  /** How long a submit waits for room before it fails with `QueueFull`, in milliseconds. Minimum `0`. @default 0 */
  readonly maxQueueWaitMs?: number | undefined;
}

/** How long an answer about the room in a queue is spent. */
const CREDIT_MS = 1000;
const PAUSE = { baseMs: 50, capMs: 1000 };

interface Waiter {
  readonly count: number;
  /** Those of its tasks that have a key, and so perhaps a task already. */
  readonly keyed: readonly NewTask[];
  /** How many of them were only answered with that task when `gate.askedAt` was this. */
  answered: { readonly count: number; readonly askedAt: number };
  readonly beganAtMs: number;
  readonly endMs: number;
  readonly call: CallOptions;
  /** When it came, or looked last, on a clock that counts. */
  cameAt: number;
  resolve(): void;
  reject(error: unknown): void;
}

interface Gate {
  readonly queue: string;
  readonly maxDepth: number;
  /** Those who have not passed, in the order in which they came. */
  readonly waiting: Waiter[];
  /** Tasks that may be submitted until `untilMs` without asking again. */
  credit: number;
  untilMs: number;
  /** When the database was asked last, on the same clock. */
  askedAt: number;
}

/** Lets submits into queues that have room, in the order in which they came. */
export class Backpressure {
  readonly #store: Store;
  readonly #maxWaitMs: number;
  readonly #maxDepth: BackpressureOptions["maxQueueDepth"];
  readonly #gates = new Map<string, Gate>();
  #ticks = 0;

  /** @throws {InvalidArgument} if an option is out of range. */
  constructor(store: Store, { maxQueueDepth, maxQueueWaitMs = 0 }: BackpressureOptions) {
    this.#store = store;
    this.#maxWaitMs = integer("maxQueueWaitMs", maxQueueWaitMs, 0, MAX_TIMER_MS);
    this.#maxDepth = maxQueueDepth;
    if (maxQueueDepth === undefined) return;
    const byQueue =
      maxQueueDepth !== null && typeof maxQueueDepth === "object" && !Array.isArray(maxQueueDepth);
    const depths = byQueue ? Object.entries(maxQueueDepth) : [["", maxQueueDepth] as const];
    for (const [queue, depth] of depths) integer(`maxQueueDepth${queue && `.${queue}`}`, depth, 1, 1_000_000);
  }

  /**
   * Resolves once there is room for all of these.
   *
   * @throws {QueueFull} if there is none in time.
   */
  async admit(tasks: readonly NewTask[], call: CallOptions = {}): Promise<void> {
    const max = this.#maxDepth;
    if (max === undefined) return;
    const byQueue = new Map<string, NewTask[]>();
    for (const task of tasks) {
      const { queue } = task.columns;
      const others = byQueue.get(queue);
      if (others === undefined) byQueue.set(queue, [task]);
      else others.push(task);
    }
    const gates: [gate: Gate, tasks: readonly NewTask[]][] = [];
    for (const [queue, members] of byQueue) {
      const count = members.length;
      const maxDepth = typeof max === "number" ? max : Object.hasOwn(max, queue) && max[queue];
      if (!maxDepth) continue;
      if (count > maxDepth) {
        throw new InvalidArgument(
          `${count} tasks at once never fit the maxQueueDepth of ${maxDepth} of the queue "${queue}"; submit fewer`,
        );
      }
      gates.push([this.#gateOf(queue, maxDepth), members]);
    }
    await Promise.all(gates.map(([gate, members]) => this.#pass(gate, members, call)));
  }

  #gateOf(queue: string, maxDepth: number): Gate {
    let gate = this.#gates.get(queue);
    if (gate === undefined) {
      gate = { queue, maxDepth, waiting: [], credit: 0, untilMs: 0, askedAt: 0 };
      this.#gates.set(queue, gate);
    }
    return gate;
  }

  #pass(gate: Gate, tasks: readonly NewTask[], call: CallOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const beganAtMs = monotonicMs();
      const endMs = beganAtMs + this.#maxWaitMs;
      const waiter: Waiter = {
        count: tasks.length,
        keyed: tasks.filter(({ key }) => key !== null),
        answered: { count: 0, askedAt: 0 },
        beganAtMs,
        endMs,
        call,
        cameAt: ++this.#ticks,
        resolve,
        reject,
      };
      // A turn later, so that submits of one tick ask together.
      if (gate.waiting.push(waiter) === 1) queueMicrotask(() => this.#letPass(gate));
    });
  }

  /** Those who pass by one answer pass in one turn, so that their submits share a round trip. */
  async #letPass(gate: Gate): Promise<void> {
    const { queue, maxDepth, waiting } = gate;
    for (let looks = 1; waiting.length > 0; ) {
      const first = waiting[0]!;
      if (hasEnded(first.call)) {
        waiting.shift(); // its caller has left
        continue;
      }
      // What the database said since this submit came is as good an answer to it.
      const isAnswered = gate.askedAt > first.cameAt;
      const leftMs = first.endMs - monotonicMs();
      const count = first.count - first.answered.count;
      if (gate.credit >= count && (isAnswered || monotonicMs() < gate.untilMs)) {
        gate.credit -= count;
        looks = 1;
        first.resolve();
      } else if (!isAnswered) {
        const asked = { askedAt: ++this.#ticks, untilMs: monotonicMs() + CREDIT_MS };
        const credit = await this.#store
          .queueHeadroom(queue, maxDepth, { deadlineMs: first.call.deadlineMs })
          .catch(first.reject);
        if (credit !== undefined) {
          Object.assign(gate, asked, { credit });
          continue;
        }
      } else if (first.keyed.length > 0 && first.answered.askedAt !== gate.askedAt) {
        const { askedAt } = gate;
        const answered = await countAnswered(this.#store, first.keyed, first.call).catch(first.reject);
        if (answered !== undefined) {
          first.answered = { count: answered, askedAt };
          continue;
        }
      } else if (leftMs > 0) {
        await sleep(Math.min(leftMs, backoffDelay(PAUSE, looks++)));
        first.cameAt = ++this.#ticks;
        continue;
      } else {
        first.reject(new QueueFull(queue, maxDepth, monotonicMs() - first.beganAtMs));
      }
      waiting.shift();
    }
  }
}
