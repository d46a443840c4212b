/** Where a claim may take tasks from: lanes, and pools of lanes that share free slots. */

/** A queue and a task name (null: every name) that a claim may take at most `quota` tasks from. */
export interface Lane {
  readonly queue: string;
  readonly name: string | null;
  readonly quota: number;
  /**
   * How many tasks of the lane are already in flight. Lanes with a rank take turns: within a priority the lane with the
   * smallest rank + taken goes first. Without ranks a claim goes by due time alone.
   */
  readonly rank?: number;
  /** Keys of limits that were served recently: among tenants of the same rank, the others go first. */
  readonly served?: readonly string[];
  /** How many tasks of the quota are claimed before they have a free slot. */
  readonly prefetch?: number;
}

/** Lanes that share free slots. */
export interface ClaimPool {
  readonly lanes: readonly Lane[];
  /** Most tasks over all its lanes. 0 claims none; the lanes then only count for the next due time. */
  readonly limit: number;
  /**
   * How many tasks of the limit are claimed before they have a free slot. They start only after a settlement announced
   * it, and are not charged with a crash if the worker vanishes before that.
   */
  readonly prefetch?: number;
}

/** Splits a pool into the part that may start immediately and the part that is prefetched, if it has both. */
export function splitPrefetch({ lanes, limit, prefetch = 0 }: ClaimPool): ClaimPool[] {
  const most = Math.min(prefetch, limit);
  if (most === 0 || most === limit) return [{ lanes, limit, prefetch: most }];
  const part = (quotaOf: (lane: Lane) => number) => lanes.map((lane) => ({ ...lane, quota: quotaOf(lane) }));
  return [
    { lanes: part(({ quota, prefetch = 0 }) => Math.max(0, quota - prefetch)), limit: limit - most },
    { lanes: part(({ quota, prefetch = 0 }) => Math.min(quota, prefetch)), limit: most, prefetch: most },
  ];
}

/** The pools with lower limits, so that together they request no more tasks than `maxTasks`. */
export function limitPools(pools: readonly ClaimPool[], maxTasks: number): readonly ClaimPool[] {
  if (requestedTasks(pools) <= maxTasks) return pools;
  let left = maxTasks;
  return pools.map((pool) => {
    const limit = Math.min(pool.limit, left);
    left -= limit;
    return { ...pool, limit };
  });
}

export function requestedTasks(pools: readonly ClaimPool[]): number {
  return pools.reduce((sum, { limit }) => sum + limit, 0);
}
