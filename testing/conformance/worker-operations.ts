// The worker's operations of the scenarios, through the store.

import { LostLease } from "../../src/core/errors/errors.ts";
import { encodeJson } from "../../src/core/json/json.ts";
import type { Lane } from "../../src/core/operations/claim-pools.ts";
import type { LeaseRef } from "../../src/core/operations/lease.ts";
import type { Outcome } from "../../src/core/operations/settle.ts";
import type { ErrorEnvelope, Json } from "../../src/core/task.ts";
import { storeOf } from "../store.ts";
import {
  type Args,
  numberArg,
  type ScenarioOperation,
  textArg,
  textsArg,
  toRow,
  type World,
} from "./operation.ts";
import { isObject } from "./scenario.ts";

const DEFAULT_LEASE_MS = 30_000;

/** What a worker does, through the store. A write whose lease is gone ends with LostLease. */
export const workerOperations: Record<string, ScenarioOperation> = {
  claim: {
    args: ["queues", "names", "worker_id", "lease_ms", "limit"],
    async run(world, args) {
      const workerId = textArg(args, "worker_id");
      const limit = numberArg(args, "limit", 1);
      const leaseMs = numberArg(args, "lease_ms", DEFAULT_LEASE_MS);
      const pools = [{ lanes: lanes(args, limit), limit }];
      const { tasks } = await storeOf(world.wadi).claim({
        pools,
        workerId,
        leaseMs,
        limited: false,
      });
      for (const { id, attempt } of tasks) world.attempts.set(`${id} ${workerId}`, attempt);
      return tasks.map(toRow);
    },
  },
  heartbeat: {
    args: ["id", "worker_id", "lease_ms"],
    async run(world, args) {
      const leaseMs = numberArg(args, "lease_ms", DEFAULT_LEASE_MS);
      const [renewed] = await storeOf(world.wadi).heartbeat([held(args)], leaseMs);
      return written(world, args, renewed !== undefined, renewed?.cancelRequested);
    },
  },
  heartbeat_batch: {
    args: ["ids", "worker_id", "lease_ms"],
    async run({ wadi }, args) {
      const workerId = textArg(args, "worker_id");
      const leases = textsArg(args, "ids").map((id) => ({ id, workerId }));
      return (await storeOf(wadi).heartbeat(leases, numberArg(args, "lease_ms", DEFAULT_LEASE_MS))).map(
        toRow,
      );
    },
  },
  progress: {
    args: ["id", "worker_id", "progress", "value", "message"],
    async run(world, args) {
      const progress = (args.progress ?? args.value ?? null) as number | null;
      const message = (args.message ?? null) as string | null;
      const reported = await storeOf(world.wadi).progress(held(args), { progress, message });
      return written(world, args, reported !== null, reported?.cancelRequested);
    },
  },
  succeed: {
    args: ["id", "worker_id", "result"],
    run: (world, args) => settle(world, args, { outcome: "succeed", resultJson: resultJson(world, args) }),
  },
  complete: {
    args: ["id", "worker_id", "result"],
    run: (world, args) => settle(world, args, { outcome: "complete", resultJson: resultJson(world, args) }),
  },
  fail: {
    args: ["id", "worker_id", "error", "retryable", "delay_ms"],
    run(world, args) {
      const error = envelope(args);
      const delayMs = numberArg(args, "delay_ms", 0);
      const retry = args.retryable === undefined ? error.retryable : args.retryable === true;
      return settle(world, args, retry ? { outcome: "retry", error, delayMs } : { outcome: "fail", error });
    },
  },
};

function held(args: Args): LeaseRef {
  return { id: textArg(args, "id"), workerId: textArg(args, "worker_id") };
}

function lanes(args: Args, quota: number): Lane[] {
  const queues = new Set(textsArg(args, "queues", ["default"]));
  const names = args.names === undefined || args.names === null ? [null] : new Set(textsArg(args, "names"));
  return [...queues].flatMap((queue) => [...names].map((name) => ({ queue, name, quota })));
}

/** Scenarios know a lease by task and worker; the attempt is that of the worker's latest claim. */
async function settle(world: World, args: Args, outcome: Outcome): Promise<Record<string, unknown>> {
  const { id, workerId } = held(args);
  const attempt = world.attempts.get(`${id} ${workerId}`) ?? (await world.wadi.get(id))?.attempt ?? 0;
  const [settled] = await storeOf(world.wadi).settle([{ id, workerId, attempt, ...outcome }]);
  return written(world, args, settled!.status !== null);
}

/** The task after an owned write, with the cancel request that the write itself returned. */
async function written(
  world: World,
  args: Args,
  owned: boolean,
  cancelRequested?: boolean,
): Promise<Record<string, unknown>> {
  const id = textArg(args, "id");
  const task = owned ? await world.wadi.get(id) : null;
  if (task === null) throw new LostLease(id);
  return { ...toRow(task), cancel_requested: cancelRequested ?? task.cancelRequestedAtMs !== null };
}

function resultJson({ wadi }: World, args: Args): string {
  return encodeJson(args.result ?? null, "the result", wadi.executor);
}

/** A scenario may give a whole envelope, a part of one or only the message. */
function envelope({ error, retryable }: Args): ErrorEnvelope {
  const part = isObject(error) ? error : { message: typeof error === "string" ? error : "failed" };
  return {
    type: "Error",
    code: "handler_error",
    message: "",
    retryable: retryable !== false,
    details: {},
    ...(part as { [field: string]: Json }),
  };
}
