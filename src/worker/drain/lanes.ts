import type { HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey } from "../handler/registration.ts";
import type { SlotPool } from "./slot-pool.ts";

/** Which name and pool a claimed task belongs to. */
export class Lanes {
  readonly #lanes = new Map<string, { readonly pool: SlotPool; readonly member: HandlerSlots }>();
  readonly #pools = new Map<HandlerSlots, SlotPool>();

  constructor(pools: readonly SlotPool[]) {
    for (const pool of pools) {
      for (const member of pool.members) {
        const { name, queues } = member.registration;
        for (const queue of queues) this.#lanes.set(laneKey({ queue, name }), { pool, member });
        this.#pools.set(member, pool);
      }
    }
  }

  of(task: { readonly queue: string; readonly name: string }): {
    readonly pool: SlotPool;
    readonly member: HandlerSlots;
  } {
    return this.#lanes.get(laneKey(task))!;
  }

  poolOf(member: HandlerSlots): SlotPool {
    return this.#pools.get(member)!;
  }
}
