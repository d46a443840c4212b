/** The options of `createHandler`, and their checks. */

import { InvalidArgument } from "../core/errors/errors.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { integer, onlyKnown, show } from "../core/validate.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import type { Wadi } from "../producer/wadi.ts";
import type { Worker } from "../worker/worker.ts";

/** Options of `createHandler`: what it serves, to whom, and within which limits. */
export interface HttpHandlerOptions {
  /** A Wadi, or a function that every authorized request that needs one calls. */
  readonly wadi: Wadi | (() => Wadi | Promise<Wadi>);
  /** Runs the tasks of `/drain`; without a worker that route does not exist. @default none */
  readonly worker?: Worker | ((wadi: Wadi) => Worker) | undefined;
  /** The only tasks that may be submitted; their schemas and defaults apply. @default any name */
  readonly tasks?: readonly AnyTaskDefinition[] | undefined;
  /** Grants access to every route. While it is undefined or empty, every request is refused and the log says why. */
  readonly secret: string | undefined;
  /** Grants access to `/drain` only. @default none */
  readonly cronSecret?: string | undefined;
  /** How to set the secret on this platform; for the log. @default how to pass the option in code */
  readonly secretHint?: string | undefined;
  /** Path before `/tasks`, `/keys`, `/wait` and `/drain`, such as `/api/wadi`. @default "" */
  readonly basePath?: string | undefined;
  /** Longest drain in milliseconds. Minimum `1`. @default 20000 */
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

const HANDLER_OPTIONS = Object.keys({
  wadi: true,
  worker: true,
  tasks: true,
  secret: true,
  cronSecret: true,
  secretHint: true,
  basePath: true,
  budgetMs: true,
  maxWaitMs: true,
  maxBodyBytes: true,
  maxBodyMs: true,
  onError: true,
} satisfies Record<keyof HttpHandlerOptions, true>);

/** Checks the options and fills in the defaults. @throws {InvalidArgument} naming the option that is wrong. */
export function checkHandler(options: HttpHandlerOptions) {
  if (options?.wadi === undefined) {
    throw new InvalidArgument("createHandler needs wadi: a Wadi, or a function that returns one");
  }
  onlyKnown("createHandler", options, HANDLER_OPTIONS);
  const budgetMs = integer("budgetMs", options.budgetMs ?? 20_000, 1);
  const maxWaitMs = integer("maxWaitMs", options.maxWaitMs ?? 25_000, 0);
  const maxBodyBytes = integer("maxBodyBytes", options.maxBodyBytes ?? 2 * 1024 * 1024, 1);
  const maxBodyMs = integer("maxBodyMs", options.maxBodyMs ?? 10_000, 1, MAX_TIMER_MS);
  const basePath = checkBasePath(options.basePath);
  checkParts(options);
  return { tasks: options.tasks, maxBodyBytes, maxBodyMs, basePath, budgetMs, maxWaitMs };
}

function checkBasePath(basePath: unknown = ""): string {
  if (typeof basePath === "string" && (basePath === "" || basePath.startsWith("/"))) {
    return basePath.replace(/\/+$/, "");
  }
  const found = typeof basePath === "string" ? "a path without a leading slash" : show(basePath);
  throw new InvalidArgument(`basePath must be "" or begin with "/", such as "/api/wadi", got ${found}`);
}

/** Checks the parts that would otherwise fail in the first request, with a response that does not say why. */
function checkParts({ wadi, worker, tasks, onError }: HttpHandlerOptions): void {
  if (typeof wadi !== "function" && typeof wadi?.submit !== "function") {
    throw new InvalidArgument(`wadi must be a Wadi, or a function that returns one, got ${show(wadi)}`);
  }
  if (worker !== undefined && typeof worker !== "function" && typeof worker?.drain !== "function") {
    throw new InvalidArgument(`worker must be a Worker, or a function that returns one, got ${show(worker)}`);
  }
  if (tasks !== undefined && !Array.isArray(tasks)) {
    throw new InvalidArgument(`tasks must be an array of task definitions, got ${show(tasks)}`);
  }
  for (const task of tasks ?? [])
    if (task?.payload === undefined) {
      throw new InvalidArgument(
        `tasks must contain only definitions from defineTask({ name }), got ${show(task)}`,
      );
    }
  if (onError !== undefined && typeof onError !== "function") {
    throw new InvalidArgument(`onError must be a function, got ${show(onError)}`);
  }
}
