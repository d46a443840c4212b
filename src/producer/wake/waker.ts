/** Sends the kicks of a `Wadi`: those that its submits and drains have to send, at most one at a time. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import type { Operation } from "../../core/operations/operation.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import {
  type KickRequest,
  kickRequests,
  type TakenKick,
  takeKicks,
  withKick,
  withKicks,
} from "../../core/operations/wake.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Session } from "../../core/session/session.ts";
import { sleep } from "../../core/timers.ts";
import { show } from "../../core/validate.ts";
import type { Background } from "../background.ts";
import type { WadiOptions } from "../wadi-options.ts";
import type { Kick, WakeFunction } from "./wake.ts";

/** A kick waits for the one before it, but no longer than this: its answer may come only when its drain has ended. */
const MAX_IN_FLIGHT_MS = 1000;

/** Kicks that are sent together, once the one before has been answered. */
interface NextKick {
  readonly queues: Set<string>;
  hop: number;
  readonly isSent: Promise<void>;
}

export class Waker {
  /** Whether a kick may be for later. */
  readonly canDelay: boolean;
  readonly #session: Session;
  readonly #wake: WakeFunction;
  readonly #background: Background;
  #inFlight: Promise<void> | null = null;
  #next: NextKick | null = null;

  private constructor(session: Session, wake: NonNullable<WadiOptions["wake"]>, background: Background) {
    this.#session = session;
    this.#wake = typeof wake === "function" ? wake : (kick) => wake.kick(kick);
    this.canDelay = typeof wake !== "function" && wake.canDelay === true;
    this.#background = background;
  }

  /** Null: the `Wadi` has no `wake`. @throws {InvalidArgument} if it is of the wrong type. */
  static of(session: Session, wake: WadiOptions["wake"], background: Background): Waker | null {
    if (wake === undefined) return null;
    if (typeof wake !== "function" && typeof wake?.kick !== "function") {
      throw new InvalidArgument(
        `wake must be a function, or what wakeByFetch or another wakeBy function returns, got ${show(wake)}`,
      );
    }
    return new Waker(session, wake, background);
  }

  /** Executes a submit, and kicks for its tasks if its round trip says that nothing else does. */
  async submit<T>(operation: Operation<T>, tasks: readonly NewTask[], call: OperationOptions): Promise<T> {
    const requests = this.#requests(tasks);
    if (requests.length === 0) return this.#session.execute(operation, call);
    const { target } = this.#session;
    const kicking =
      withKick(target, operation, tasks, this.canDelay) ??
      withKicks(target, operation, requests, this.canDelay);
    const [answer, kicks] = await this.#session.execute(kicking, call);
    void this.send(kicks, 0);
    return answer;
  }

  /** Kicks for tasks that the application has committed. Never rejects. */
  async kickFor(tasks: readonly NewTask[]): Promise<void> {
    await this.#kick(this.#requests(tasks));
  }

  /** Kicks for queues that got due tasks by another way than a submit, of these names; none: of any. Never rejects. */
  async kickQueues(queues: readonly string[], names: readonly string[]): Promise<void> {
    await this.#kick(queues.map((queue) => ({ queue, names, delayMs: 0 })));
  }

  async #kick(requests: readonly KickRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const kick = async () => {
      const operation = takeKicks(this.#session.target, requests, this.canDelay);
      await this.send(await this.#session.execute(operation), 0);
    };
    await this.inBackground(kick());
  }

  /** Sends kicks that were taken. Resolves when they are answered, and never rejects. */
  async send(kicks: readonly TakenKick[], hop: number): Promise<void> {
    const due = kicks.filter(({ atMs }) => atMs === null).map(({ queue }) => queue);
    const later = kicks.flatMap(({ queue, atMs }) => (atMs === null ? [] : [{ queues: [queue], hop, atMs }]));
    const sent = [
      ...(due.length === 0 ? [] : [this.#sendSoon(due, hop)]),
      ...later.map((kick) => this.#call(kick)),
    ];
    await Promise.all(sent.map((promise) => this.inBackground(promise)));
  }

  /** Keeps the invocation alive for the promise, and reports its error. */
  inBackground(promise: Promise<unknown>): Promise<void> {
    return this.#background.run("wake", promise);
  }

  /** The kicks that these tasks may need. An absolute due time may be past by the clock of the database. */
  #requests(tasks: readonly NewTask[]): KickRequest[] {
    return kickRequests(tasks).filter(
      ({ runAtMs, delayMs }) => this.canDelay || runAtMs !== undefined || delayMs === 0,
    );
  }

  #sendSoon(queues: readonly string[], hop: number): Promise<void> {
    if (this.#next === null) {
      const next: NextKick = {
        queues: new Set(),
        hop,
        isSent: Promise.resolve().then(() => this.#sendNext()),
      };
      this.#next = next;
    }
    for (const queue of queues) this.#next.queues.add(queue);
    this.#next.hop = Math.max(this.#next.hop, hop);
    return this.#next.isSent;
  }

  async #sendNext(): Promise<void> {
    if (this.#inFlight !== null) await sleep(MAX_IN_FLIGHT_MS, undefined, this.#inFlight);
    const { queues, hop } = this.#next!;
    this.#next = null; // a kick that is asked for from now on is another one
    const sent = this.#call({ queues: [...queues], hop });
    const answered = sent.catch(() => {});
    this.#inFlight = answered;
    try {
      await sent;
    } finally {
      if (this.#inFlight === answered) this.#inFlight = null;
    }
  }

  async #call(kick: Kick): Promise<void> {
    await this.#wake(kick);
  }
}
