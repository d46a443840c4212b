/** The operations behind the routes: submit, get and wait. */

import { InvalidArgument, TaskTimeout } from "../core/errors/errors.ts";
import type { TaskRef } from "../core/operations/read.ts";
import { isTerminal, type Task } from "../core/task.ts";
import { integer, onlyKnown, text } from "../core/validate.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import type { SubmitOptions } from "../producer/submit/submit-options.ts";
import type { Wadi } from "../producer/wadi.ts";
import { HttpError } from "./http-error.ts";
import { type BodyLimits, readJsonObject } from "./read-body.ts";
import { json } from "./respond.ts";
import type { Route } from "./routes.ts";
import { taskRef } from "./task-ref.ts";

/**
 * The fields of a submit's body. `limits` is left out because a client that may submit must not change the limits of
 * the whole fleet, `onFailed` because it must not name tasks that it may not submit; a task definition may have both.
 */
const SUBMIT_FIELDS = Object.keys({
  name: true,
  payload: true,
  key: true,
  conflict: true,
  debounce: true,
  throttle: true,
  queue: true,
  delayMs: true,
  expiresInMs: true,
  priority: true,
  maxAttempts: true,
  maxCrashes: true,
  metadata: true,
  correlationId: true,
  parentId: true,
  rootId: true,
} satisfies Record<Exclude<keyof SubmitOptions, "limits" | "onFailed" | "runAt"> | "name" | "payload", true>);

/** A wait of 25 seconds stays below 40 statements: platforms bill, and limit, statements per invocation. */
const POLL = { pollMs: 100, maxPollMs: 1000 };

export interface SubmitLimits extends BodyLimits {
  readonly tasks: readonly AnyTaskDefinition[] | undefined;
  readonly basePath: string;
}

export async function submit(
  request: Request,
  connect: () => Promise<Wadi>,
  { tasks, basePath, ...limits }: SubmitLimits,
): Promise<Response> {
  const body = await readJsonObject(request, limits);
  onlyKnown("the body", body, SUBMIT_FIELDS, "the body");
  const { name, payload, ...options } = body;
  const definition = tasks?.find((candidate) => candidate.name === name);
  if (tasks !== undefined && definition === undefined) {
    const names = tasks.map((task) => task.name).join(", ");
    throw new InvalidArgument(`name must be one of the tasks of this endpoint: ${names}`);
  }
  const checked = definition ?? text("name", name); // an object would be taken for a definition
  // `submit` checks the rest itself, as for any caller without types.
  const wadi = await connect();
  const task = await wadi.submit(checked, payload, options as SubmitOptions);
  const location = `${basePath}/tasks/${encodeURIComponent(task.id)}`;
  return json(task.outcome === "created" ? 201 : 200, task, { location });
}

export async function get(
  route: Route,
  connect: () => Promise<Wadi>,
  { url, signal }: Request,
): Promise<Response> {
  const ref = taskRef(route, url);
  const task = await read(await connect(), ref, signal);
  if (task === null) throw notFound(ref);
  return json(200, task);
}

/**
 * 200 with the task once it is terminal. 202 with the task as last read when the time is up: nothing went wrong and the
 * task continues, so the status is neither a 5xx, which alarms monitors, nor 408, which clients and proxies repeat.
 */
export async function wait(
  route: Route,
  connect: () => Promise<Wadi>,
  { url, signal }: Request,
  maxWaitMs: number,
): Promise<Response> {
  const ref = taskRef(route, url);
  const timeoutMs = timeoutOf(url, maxWaitMs);
  const wadi = await connect();
  const seen = await read(wadi, ref, signal);
  if (seen !== null && isTerminal(seen.status)) return json(200, seen);
  // An id exists from its submit on, while a key may be waited for before its first submit.
  if (seen === null && ("id" in ref || timeoutMs === 0)) throw notFound(ref);
  if (timeoutMs === 0) return json(202, seen);
  const options = { ...POLL, timeoutMs, signal };
  try {
    return json(200, await ("id" in ref ? wadi.wait(ref.id, options) : wadi.waitByKey(ref.key, options)));
  } catch (error) {
    if (!(error instanceof TaskTimeout)) throw error;
    if (error.cause !== undefined) throw error.cause; // the database could not be read
    if (error.task === null) throw notFound(ref);
    return json(202, error.task);
  }
}

function read(wadi: Wadi, ref: TaskRef, signal: AbortSignal): Promise<Task | null> {
  return "id" in ref ? wadi.get(ref.id, { signal }) : wadi.getByKey(ref.key, { signal });
}

function timeoutOf(url: string, maxWaitMs: number): number {
  const asked = new URL(url).searchParams.get("timeoutMs");
  if (asked === null) return maxWaitMs;
  return integer("timeoutMs", /^\d+$/.test(asked) ? Number(asked) : asked, 0, maxWaitMs);
}

function notFound(ref: TaskRef): HttpError {
  const message =
    "id" in ref
      ? "no task has this id; it may have been purged"
      : "no task has this key; it may not have been submitted yet";
  return new HttpError(404, "NOT_FOUND", message);
}
