import type { HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey } from "../handler/registration.ts";
import type { SlotPool } from "./slot-pool.ts";

interface Place {
  readonly pool: SlotPool;
  readonly handler: HandlerSlots;
}

/** Finds the slots of a claimed task by its lane, which is its queue and name. */
export class SlotsByLane {
  readonly #places = new Map<string, Place>();
  readonly #pools = new Map<HandlerSlots, SlotPool>();

  constructor(pools: readonly SlotPool[]) {
    for (const pool of pools) {
      for (const handler of pool.handlers) {
        const { name, queues } = handler.registration;
        for (const queue of queues) this.#places.set(laneKey({ queue, name }), { pool, handler });
        this.#pools.set(handler, pool);
      }
    }
  }

  placeOf(task: { readonly queue: string; readonly name: string }): Place {
    return this.#places.get(laneKey(task))!;
  }

  poolOf(handler: HandlerSlots): SlotPool {
    return this.#pools.get(handler)!;
  }
}
