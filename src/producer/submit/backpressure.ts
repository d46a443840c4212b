/** Stage 4 of a submit, for all queues with a limit: waits until they have room. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import type { NewTask } from "../../core/operations/submit.ts";
import type { OperationOptions } from "../../core/session/operation-options.ts";
import type { Session } from "../../core/session/session.ts";
import { MAX_TIMER_MS } from "../../core/timers.ts";
import { integer } from "../../core/validate.ts";
import type { WadiOptions } from "../wadi-options.ts";
import { QueueGate } from "./queue-gate.ts";

export type BackpressureOptions = Pick<WadiOptions, "maxQueueDepth" | "maxQueueWaitMs">;

/** The stage of a submit that waits for room: one gate for each queue that has a limit. */
export class Backpressure {
  readonly #session: Session;
  readonly #maxWaitMs: number;
  readonly #maxDepth: BackpressureOptions["maxQueueDepth"];
  readonly #gates = new Map<string, QueueGate>();

  /** @throws {InvalidArgument} if an option is out of range. */
  constructor(session: Session, { maxQueueDepth, maxQueueWaitMs = 0 }: BackpressureOptions) {
    this.#session = session;
    this.#maxWaitMs = integer("maxQueueWaitMs", maxQueueWaitMs, 0, MAX_TIMER_MS);
    this.#maxDepth = maxQueueDepth;
    if (maxQueueDepth === undefined) return;
    const byQueue = isRecord(maxQueueDepth);
    const depths = byQueue ? Object.entries(maxQueueDepth) : [["", maxQueueDepth] as const];
    for (const [queue, depth] of depths) integer(`maxQueueDepth${queue && `.${queue}`}`, depth, 1, 1_000_000);
  }

  /**
   * Resolves once their queues have room for all of these.
   *
   * @throws {InvalidArgument} if they are more than a queue may ever hold.
   * @throws {QueueFull} if there is no room in time.
   */
  async admit(tasks: readonly NewTask[], call: OperationOptions = {}): Promise<void> {
    if (this.#maxDepth === undefined) return;
    const passes: [gate: QueueGate, tasks: readonly NewTask[]][] = [];
    for (const [queue, members] of Map.groupBy(tasks, (task) => task.columns.queue)) {
      const maxDepth = this.#maxDepthOf(queue);
      if (maxDepth === undefined) continue;
      if (members.length > maxDepth) {
        throw new InvalidArgument(
          `${members.length} tasks at once never fit the maxQueueDepth of ${maxDepth} ` +
            `of the queue "${queue}"; submit fewer`,
        );
      }
      passes.push([this.#gateOf(queue, maxDepth), members]);
    }
    await Promise.all(passes.map(([gate, members]) => gate.pass(members, call)));
  }

  #maxDepthOf(queue: string): number | undefined {
    const max = this.#maxDepth;
    if (typeof max !== "object") return max;
    return Object.hasOwn(max, queue) ? max[queue] : undefined;
  }

  #gateOf(queue: string, maxDepth: number): QueueGate {
    let gate = this.#gates.get(queue);
    if (gate === undefined) {
      gate = new QueueGate(this.#session, { queue, maxDepth, maxWaitMs: this.#maxWaitMs });
      this.#gates.set(queue, gate);
    }
    return gate;
  }
}
