/** The options of `createHandler`, and their checks. */

import {
  type CompleteChecks,
  checkOptions,
  integerFrom,
  optional,
  optionalFunction,
  unchecked,
  withDefault,
} from "../core/check-options.ts";
import { InvalidArgument } from "../core/errors/errors.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { show, text } from "../core/validate.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import type { Wadi } from "../producer/wadi.ts";
import { KICK_AUDIENCE } from "../producer/wake/kick-token.ts";
import type { Worker } from "../worker/worker.ts";
import type { HandlerInvocation } from "./handler-invocation.ts";

/** Options of `createHandler`: what it serves, to whom, and within which limits. */
export interface HttpHandlerOptions {
  /**
   * A Wadi, or a function that every authorized request that needs one calls, with the facilities of its invocation:
   * pass `waitUntil` on if the Wadi has a `wake`.
   */
  readonly wadi: Wadi | ((invocation: HandlerInvocation) => Wadi | Promise<Wadi>);
  /** Runs the tasks of `/drain`; without a worker that route does not exist. @default none */
  readonly worker?: Worker | ((wadi: Wadi) => Worker) | undefined;
  /** The only tasks that may be submitted; their schemas and defaults apply. @default any name */
  readonly tasks?: readonly AnyTaskDefinition[] | undefined;
  /**
   * Grants access to every route, each secret of a list; kicks are signed with one of them. While it is undefined or
   * empty, every request is refused and the log says why.
   */
  readonly secret: string | readonly string[] | undefined;
  /** Grants access to `/drain` only. @default none */
  readonly cronSecret?: string | undefined;
  /** Whom accepted kicks are for: the `audience` of `wakeByFetch` or `wakeByBinding`. @default "wadi" */
  readonly audience?: string | undefined;
  /** How to set the secret on this platform; for the log. @default how to pass the option in code */
  readonly secretHint?: string | undefined;
  /** Path before `/tasks`, `/keys`, `/wait` and `/drain`, such as `/api/wadi`. @default "" */
  readonly basePath?: string | undefined;
  /**
   * Longest drain in milliseconds; one ends before the deadline of its invocation in any case. Minimum `1`.
   * @default until the deadline of the invocation where it is known, as on Vercel, elsewhere 20000
   */
  readonly budgetMs?: number | undefined;
  /** Longest and default wait in milliseconds. Minimum `0`. @default 25000 */
  readonly maxWaitMs?: number | undefined;
  /** Largest request body in bytes. Minimum `1`. @default 2097152 */
  readonly maxBodyBytes?: number | undefined;
  /** Longest time in milliseconds that a request body may take to arrive. Minimum `1`. @default 10000 */
  readonly maxBodyMs?: number | undefined;
  /**
   * Receives the cause of every response with a status of 500 or more, and once the report that a secret is missing. An
   * error that it throws or rejects with is logged and changes no response. @default console.error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

function checkBasePath(_: string, basePath: unknown = ""): string {
  if (typeof basePath === "string" && (basePath === "" || basePath.startsWith("/"))) {
    return basePath.replace(/\/+$/, "");
  }
  const found = typeof basePath === "string" ? "a path without a leading slash" : show(basePath);
  throw new InvalidArgument(`basePath must be "" or begin with "/", such as "/api/wadi", got ${found}`);
}

function checkWadi(_: string, wadi: unknown): HttpHandlerOptions["wadi"] {
  if (isOrMakes(wadi, "submit")) return wadi as Wadi;
  throw new InvalidArgument(
    `createHandler needs the option wadi, a Wadi or a function that returns one, got ${show(wadi)}`,
  );
}

function checkWorker(_: string, worker: unknown): HttpHandlerOptions["worker"] {
  if (worker === undefined || isOrMakes(worker, "drain")) return worker as Worker;
  throw new InvalidArgument(`worker must be a Worker, or a function that returns one, got ${show(worker)}`);
}

function isOrMakes(value: unknown, method: string): boolean {
  return typeof value === "function" || typeof (value as never)?.[method] === "function";
}

function checkTasks(_: string, tasks: unknown): HttpHandlerOptions["tasks"] {
  if (tasks !== undefined && !Array.isArray(tasks)) {
    throw new InvalidArgument(`tasks must be an array of task definitions, got ${show(tasks)}`);
  }
  for (const task of tasks ?? [])
    if (task?.payload === undefined) {
      throw new InvalidArgument(
        `tasks must contain only definitions from defineTask({ name }), got ${show(task)}`,
      );
    }
  return tasks;
}

/** Parts that would otherwise fail in the first request, with a response that does not say why, are checked too. */
const HANDLER_OPTIONS = {
  wadi: checkWadi,
  worker: checkWorker,
  tasks: checkTasks,
  secret: unchecked, // by authorize.ts
  cronSecret: unchecked,
  audience: withDefault((option, value) => text(option, value), KICK_AUDIENCE),
  secretHint: unchecked,
  basePath: checkBasePath,
  budgetMs: optional(integerFrom(1)),
  maxWaitMs: integerFrom(0, undefined, 25_000),
  maxBodyBytes: integerFrom(1, undefined, 2 * 1024 * 1024),
  maxBodyMs: integerFrom(1, MAX_TIMER_MS, 10_000),
  onError: optionalFunction<HttpHandlerOptions["onError"]>,
} satisfies CompleteChecks<HttpHandlerOptions>;

/** Checks the options and fills in the defaults. @throws {InvalidArgument} naming the option that is wrong. */
export function checkHandler(options: HttpHandlerOptions) {
  return checkOptions("createHandler", options, HANDLER_OPTIONS);
}
