import type { Member, Pool } from "./pools.ts";
import { laneKey } from "./registration.ts";

/** Which name and pool a claimed task belongs to. */
export class Lanes {
  readonly #lanes = new Map<string, { readonly pool: Pool; readonly member: Member }>();
  readonly #pools = new Map<Member, Pool>();

  constructor(pools: readonly Pool[]) {
    for (const pool of pools) {
      for (const member of pool.members) {
        const { name, queues } = member.registration;
        for (const queue of queues) this.#lanes.set(laneKey({ queue, name }), { pool, member });
        this.#pools.set(member, pool);
      }
    }
  }

  of(task: { readonly queue: string; readonly name: string }): {
    readonly pool: Pool;
    readonly member: Member;
  } {
    return this.#lanes.get(laneKey(task))!;
  }

  poolOf(member: Member): Pool {
    return this.#pools.get(member)!;
  }
}
