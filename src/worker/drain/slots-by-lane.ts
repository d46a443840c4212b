import type { HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey } from "../handler/registration.ts";
import type { SlotPool } from "./slot-pool.ts";

/** The slots of a lane, which is a queue and a name. */
export interface LaneSlots {
  readonly pool: SlotPool;
  readonly handler: HandlerSlots;
}

/** Returns a function that finds the slots of a claimed task. */
export function slotsByLane(
  pools: readonly SlotPool[],
): (task: { readonly queue: string; readonly name: string }) => LaneSlots {
  const slots = new Map<string, LaneSlots>();
  for (const pool of pools) {
    for (const handler of pool.handlers) {
      const { name, queues } = handler.registration;
      for (const queue of queues) slots.set(laneKey({ queue, name }), { pool, handler });
    }
  }
  return (task) => slots.get(laneKey(task))!;
}
