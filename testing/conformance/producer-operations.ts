// The producer's operations of the scenarios, through the public client.

import type { SubmitOptions } from "../../src/producer/submit/submit-options.ts";
import type { PurgeOptions } from "../../src/producer/tasks/task-controls.ts";
import type { ListOptions } from "../../src/producer/tasks/task-reads.ts";
import type { Wadi } from "../../src/producer/wadi.ts";
import {
  type Args,
  given,
  numberArg,
  rowOrNull,
  type ScenarioOperation,
  textArg,
  toRow,
} from "./operation.ts";

const SUBMIT_ARGS = [
  ...["name", "payload", "key", "queue", "conflict", "max_attempts", "max_crashes", "priority", "metadata"],
  ...["correlation_id", "run_at_delay_ms", "debounce_ms", "debounce_max_ms", "throttle_ms"],
];

/** What a producer does, through the public client. */
export const producerOperations: Record<string, ScenarioOperation> = {
  submit: {
    args: SUBMIT_ARGS,
    async run({ wadi }, args) {
      const options = given({
        key: args.key,
        conflict: args.conflict,
        queue: args.queue,
        maxAttempts: args.max_attempts,
        maxCrashes: args.max_crashes,
        priority: args.priority,
        delayMs: args.run_at_delay_ms,
        metadata: args.metadata,
        correlationId: args.correlation_id,
        debounce: args.debounce_ms && given({ delayMs: args.debounce_ms, maxDelayMs: args.debounce_max_ms }),
        throttle: args.throttle_ms && { perMs: args.throttle_ms },
      });
      return toRow(await wadi.submit(textArg(args, "name"), args.payload, options as SubmitOptions));
    },
  },
  get: { args: ["id"], run: async ({ wadi }, args) => rowOrNull(await wadi.get(textArg(args, "id"))) },
  failures: {
    args: ["id"],
    run: async ({ wadi }, args) => (await wadi.failures(textArg(args, "id"))).map(toRow),
  },
  get_by_key: {
    args: ["key"],
    run: async ({ wadi }, args) => rowOrNull(await wadi.getByKey(textArg(args, "key"))),
  },
  get_status: { args: ["id"], run: ({ wadi }, args) => wadi.getStatus(textArg(args, "id")) },
  get_status_by_key: { args: ["key"], run: ({ wadi }, args) => wadi.getStatusByKey(textArg(args, "key")) },
  list: {
    args: ["status", "queue", "name", "root_id", "correlation_id", "limit", "offset"],
    async run({ wadi }, { root_id: rootId, correlation_id: correlationId, ...rest }) {
      return (await wadi.list(given({ ...rest, rootId, correlationId }) as ListOptions)).map(toRow);
    },
  },
  cancel: { args: ["id"], run: async ({ wadi }, args) => rowOrNull(await wadi.cancel(textArg(args, "id"))) },
  cancel_by_key: {
    args: ["key"],
    run: async ({ wadi }, args) => rowOrNull(await wadi.cancelByKey(textArg(args, "key"))),
  },
  retry: {
    args: ["id", "reset_attempt"],
    run: async ({ wadi }, args) => rowOrNull(await wadi.retry(textArg(args, "id"), retryOptions(args))),
  },
  retry_by_key: {
    args: ["key", "reset_attempt"],
    run: async ({ wadi }, args) => rowOrNull(await wadi.retryByKey(textArg(args, "key"), retryOptions(args))),
  },
  purge: {
    args: ["older_than_ms", "queue", "status", "name", "limit"],
    async run({ wadi }, { older_than_ms: olderThanMs, ...rest }) {
      const before = await allIds(wadi);
      const purged = await wadi.purge(
        given({ ...rest, olderThanMs: olderThanMs ?? 0 }) as unknown as PurgeOptions,
      );
      const after = await allIds(wadi);
      const gone = before.filter((id) => !after.includes(id));
      if (gone.length === purged) return gone;
      throw new Error(`purge returned ${purged}, but deleted ${gone.length}`);
    },
  },
  stats: {
    args: ["queues", "queue"],
    run({ wadi }, args) {
      const queues = args.queues ?? (typeof args.queue === "string" ? [args.queue] : undefined);
      return wadi.stats(queues as string[] | undefined);
    },
  },
  queue_depth: {
    args: ["queue", "max_depth"],
    run: ({ wadi }, args) =>
      wadi.queueHeadroom(textArg({ queue: "default", ...args }, "queue"), numberArg(args, "max_depth")),
  },
};

/** The client counts what a purge deletes; a scenario asks for the ids. */
async function allIds(wadi: Wadi): Promise<string[]> {
  return (await wadi.list({ limit: 1000 })).map(({ id }) => id);
}

function retryOptions(args: Args): { resetAttempt: boolean } {
  return { resetAttempt: args.reset_attempt === true };
}
