/** Divides the slots and the prefetch of a worker among its names. */

import { type AttemptTime, HandlerSlots } from "../handler/handler-slots.ts";
import { laneKey, type Registration } from "../handler/registration.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { SlotPool } from "./slot-pool.ts";

/** Slots and prefetch of a worker, for all its names. */
export interface PoolSizes {
  readonly concurrency: number;
  readonly resources: ReadonlyMap<string, number>;
  /** Tasks claimed ahead of the free slots, over all pools. */
  readonly prefetch: number;
}

/**
 * Makes the slot pools of all names: names with the same resource share a pool, a name with a batch or a concurrency
 * has a dedicated one, all others share one. The prefetch is divided by capacity.
 */
export function makeSlotPools(
  settings: PoolSizes & { readonly registrations: readonly Registration[] },
  bytes: ByteBudget,
  time: AttemptTime,
): SlotPool[] {
  const drafts = [...Map.groupBy(settings.registrations, groupOf).values()].map((group) => {
    const { resource, concurrency } = group[0]!;
    const shared = resource === null ? settings.concurrency : settings.resources.get(resource)!;
    const slots = resource === null ? (concurrency ?? shared) : shared;
    const handlers = group.map((registration) => new HandlerSlots(registration, slots, time));
    return { handlers, slots, capacity: slots * Math.max(...handlers.map(({ batch }) => batch)) };
  });
  const total = drafts.reduce((sum, { capacity }) => sum + capacity, 0);
  return drafts.map(({ handlers, slots, capacity }) => {
    return new SlotPool(handlers, slots, Math.floor((settings.prefetch * capacity) / total), bytes);
  });
}

/** Names with the same group share a pool. */
function groupOf({ resource, concurrency, batch, queues, name }: Registration): string {
  if (resource !== null) return `r${resource}`;
  return concurrency !== null || batch !== null ? `n${laneKey({ queue: queues[0]!, name })}` : "";
}
