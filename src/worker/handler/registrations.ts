import { InvalidArgument } from "../../core/errors/errors.ts";
import { laneKey, type Registration } from "./registration.ts";

/** The handlers that are registered with a worker: at most one for each name in a queue. */
export class Registrations {
  readonly #all: Registration[] = [];
  readonly #lanes = new Set<string>();

  get all(): readonly Registration[] {
    return this.#all;
  }

  /** Keys of the names in their queues. */
  get lanes(): readonly string[] {
    return [...this.#lanes];
  }

  /** @throws {InvalidArgument} if the name has a handler in one of the queues already. */
  add(registration: Registration): void {
    const { name, queues } = registration;
    const lanes = queues.map((queue) => ({ queue, key: laneKey({ queue, name }) }));
    for (const { queue, key } of lanes) {
      if (this.#lanes.has(key)) {
        throw new InvalidArgument(
          `"${name}" has a handler in the queue "${queue}" already; register it once, or in another queue`,
        );
      }
    }
    for (const { key } of lanes) this.#lanes.add(key);
    this.#all.push(registration);
  }

  /** All handlers, for a method that needs one. @throws {InvalidArgument} if there is none. */
  required(method: string): readonly Registration[] {
    if (this.#all.length === 0)
      throw new InvalidArgument(`${method} needs a handler: call worker.task(...) first`);
    return this.#all;
  }
}
