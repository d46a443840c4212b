import { InvalidArgument } from "../core/errors/errors.ts";
import { MAX_TIMER_MS } from "../core/timers.ts";
import { integer, onlyKnown, show } from "../core/validate.ts";
import type { AnyTaskDefinition } from "../producer/define-task.ts";
import type { Wadi } from "../producer/wadi.ts";
import type { Worker } from "../worker/worker.ts";

export interface HttpHandlerOptions {
  /** A Wadi, or a function that is called by each authorized request that needs one. */
  readonly wadi: Wadi | (() => Wadi | Promise<Wadi>);
  /** Runs the tasks of `/drain`, which does not exist without it. */
  readonly worker?: Worker | ((wadi: Wadi) => Worker) | undefined;
  /** The only tasks that may be submitted; their schemas and defaults apply. @default any name */
  readonly tasks?: readonly AnyTaskDefinition[] | undefined;
  /** Opens every route. While it is undefined or empty, every request is refused and the log says why. */
  readonly secret: string | undefined;
  /** Opens `/drain` too, and nothing else. */
  readonly cronSecret?: string | undefined;
  /** How to set the secret on this platform, for the log. */
  readonly secretHint?: string | undefined;
  /** What stands before `/tasks`, `/keys`, `/wait` and `/drain` in the path, such as `/api/wadi`. @default "" */
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
   * Receives the cause of every answer from 500 on, and once that a secret is missing. What it throws, or rejects with,
   * is logged and changes no answer. @default console.error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

const OPTION_NAMES = [
  ...["wadi", "worker", "tasks", "secret", "cronSecret", "secretHint", "basePath"],
  ...["budgetMs", "maxWaitMs", "maxBodyBytes", "maxBodyMs", "onError"],
];

/** @throws {InvalidArgument} naming the option that is wrong. */
export function checkHandler(options: HttpHandlerOptions) {
  if (options?.wadi === undefined) {
    throw new InvalidArgument("createHandler needs wadi: a Wadi, or a function that makes one");
  }
  onlyKnown("createHandler", options, OPTION_NAMES);
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
  const found = typeof basePath === "string" ? "a path without it" : show(basePath);
  throw new InvalidArgument(`basePath must be "" or begin with "/", such as "/api/wadi", got ${found}`);
}

/** Checks what would fail only in the first request, with an answer that says nothing. */
function checkParts({ wadi, worker, tasks, onError }: HttpHandlerOptions): void {
  if (typeof wadi !== "function" && typeof wadi?.submit !== "function") {
    throw new InvalidArgument(`wadi must be a Wadi, or a function that makes one, got ${show(wadi)}`);
  }
  if (worker !== undefined && typeof worker !== "function" && typeof worker?.drain !== "function") {
    throw new InvalidArgument(`worker must be a Worker, or a function that makes one, got ${show(worker)}`);
  }
  if (tasks !== undefined && !Array.isArray(tasks)) {
    throw new InvalidArgument(`tasks must be an array of what defineTask gives, got ${show(tasks)}`);
  }
  for (const task of tasks ?? [])
    if (task?.payload === undefined) {
      throw new InvalidArgument(`a task is what defineTask({ name }) gives; got ${show(task)}`);
    }
  if (onError !== undefined && typeof onError !== "function") {
    throw new InvalidArgument(`onError must be a function, got ${show(onError)}`);
  }
}
