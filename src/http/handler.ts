import { vercelContext } from "../core/vercel-context.ts";
import { authorizerOf } from "./authorize.ts";
import { checkQuery } from "./check-query.ts";
import type { HandlerInvocation } from "./handler-invocation.ts";
import { checkHandler, type HttpHandlerOptions } from "./handler-options.ts";
import { HttpError } from "./http-error.ts";
import { logError, reporter } from "./report-error.ts";
import { errorResponse, json, toHttpError } from "./respond.ts";
import { matchRoute, type Route } from "./routes.ts";
import { get, submit, wait } from "./task-operations.ts";

const DEFAULT_BUDGET_MS = 20_000;

/** Answers one request. It never rejects: an error is an answer too. */
export type HttpHandler = (request: Request, invocation?: HandlerInvocation) => Promise<Response>;

/**
 * One `Request -> Response` handler for every platform that speaks fetch. Each request carries `Authorization: Bearer
 * <secret>`; each answer is JSON and never cached.
 *
 * - `POST /tasks` with `{ name, payload, key?, conflict?, debounce?, throttle?, queue?, delayMs?, priority?,
 *   maxAttempts?, maxCrashes?, metadata?, correlationId?, parentId?, rootId? }`: 201 with the new task, 200 with the
 *   task that the key had (see `outcome`).
 * - `GET /tasks/:id`, `GET /keys/:key`, `GET /keys?key=`: 200 with the task.
 * - `GET /tasks/:id/wait`, `GET /keys/:key/wait`, `GET /wait?id=` or `?key=`, each with `timeoutMs` in the query: 200
 *   with the task once it has succeeded, failed or was canceled; 202 with the task as last read when the time is up:
 *   ask again.
 * - `POST /drain`, `GET /drain`: runs due tasks within the budget, 200 with the DrainSummary. A kick that is signed
 *   with the secret gets 202 before the drain, if the invocation has `waitUntil`.
 *
 * Encode a key in a path with `encodeURIComponent`. The keys `.`, `..` and `wait` cannot be written as a path: pass
 * them in the query, which accepts every key.
 *
 * Errors are `{ error: { code, message, retryable } }`: 400 (an argument, a body that is not JSON), 401, 404, 405, 408
 * (the body arrived too slowly), 409 (the key is taken under `reject`), 413, 429 (the queue is full), 503 (the database
 * cannot be reached) and 500. Messages of the database reach only the log.
 *
 * @throws {InvalidArgument} if an option is out of range.
 * @example
 * ```ts
 * import { createHandler } from "wadi/http";
 *
 * export default { fetch: createHandler({ wadi, worker, secret: env.WADI_SECRET }) };
 * ```
 */
export function createHandler(options: HttpHandlerOptions): HttpHandler {
  const { wadi, worker, budgetMs, maxWaitMs, ...limits } = checkHandler(options);
  const { basePath } = limits;
  const onError = reporter(options.onError ?? logError);
  const connect = async (invocation: HandlerInvocation) =>
    typeof wadi === "function" ? wadi(invocation) : wadi;
  const authorize = authorizerOf(options, onError);

  function routeOf({ url }: Request): Route {
    const { pathname } = new URL(url);
    const route = pathname.startsWith(`${basePath}/`) ? matchRoute(pathname.slice(basePath.length)) : null;
    if (route === null) {
      throw notFound("there is no such route; check the path and the basePath of the handler");
    }
    if (route.operation === "drain" && worker === undefined) {
      throw notFound("this handler has no worker, so it has no /drain; pass worker to createHandler");
    }
    return route;
  }

  async function drain(invocation: HandlerInvocation, kickHop: number | null): Promise<Response> {
    const { deadline, waitUntil } = invocation;
    const runner = typeof worker === "function" ? worker(await connect(invocation)) : worker!;
    const draining = runner.drain({ deadline: drainDeadline(budgetMs, deadline), hop: kickHop ?? undefined });
    const background = waitUntil ?? vercelContext()?.waitUntil;
    if (kickHop !== null && background !== undefined) {
      background(draining.catch(onError));
      return json(202, { draining: true });
    }
    waitUntil?.(draining.catch(() => {}));
    return json(200, await draining);
  }

  async function answer(request: Request, invocation: HandlerInvocation): Promise<Response> {
    const route = routeOf(request);
    const allow = [...route.methods, "OPTIONS"].join(", ");
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    if (!route.methods.includes(request.method)) {
      throw new HttpError(405, "METHOD_NOT_ALLOWED", `this route takes ${allow}`, { headers: { allow } });
    }
    const { kickHop } = await authorize(request, route);
    checkQuery(request, route);
    const open = () => connect(invocation);
    if (route.operation === "submit") return submit(request, open, limits);
    if (route.operation === "get") return get(route, open, request);
    if (route.operation === "wait") return wait(route, open, request, maxWaitMs);
    return drain(invocation, kickHop);
  }

  return async (request, invocation = {}) => {
    let response: Response;
    try {
      response = await answer(request, invocation);
    } catch (error) {
      const refusal = request.signal.aborted ? clientGone() : toHttpError(error);
      if (refusal.status >= 500) onError(error);
      response = errorResponse(refusal);
    }
    // A HEAD request gets the headers of the GET.
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/** When a drain must be over; undefined if the worker reads it from the platform. */
function drainDeadline(budgetMs: number | null, deadline: Date | number | undefined): number | undefined {
  if (budgetMs !== null) return Math.min(Date.now() + budgetMs, Number(deadline ?? Number.POSITIVE_INFINITY));
  if (deadline !== undefined) return Number(deadline);
  return vercelContext()?.deadline === undefined ? Date.now() + DEFAULT_BUDGET_MS : undefined;
}

function notFound(message: string): HttpError {
  return new HttpError(404, "NOT_FOUND", message);
}

/** The client does not read this answer; the status is for logs. */
function clientGone(): HttpError {
  return new HttpError(499, "CLIENT_CLOSED_REQUEST", "the client closed the request");
}
