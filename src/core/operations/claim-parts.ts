import type { ClaimPool, Lane } from "./lease.ts";

/** The part of a pool that may start at once, and the part that is claimed ahead, if there are both. */
export function nowAndAhead({ lanes, limit, ahead = 0 }: ClaimPool): ClaimPool[] {
  const most = Math.min(ahead, limit);
  if (most === 0 || most === limit) return [{ lanes, limit, ahead: most }];
  const part = (quotaOf: (lane: Lane) => number) => lanes.map((lane) => ({ ...lane, quota: quotaOf(lane) }));
  return [
    { lanes: part(({ quota, ahead = 0 }) => Math.max(0, quota - ahead)), limit: limit - most },
    { lanes: part(({ quota, ahead = 0 }) => Math.min(quota, ahead)), limit: most, ahead: most },
  ];
}
