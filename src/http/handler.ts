import { InvalidArgument } from "../core/errors/errors.ts";
import { bearerToken, type TokenCheck, tokenCheck } from "./auth.ts";
import { checkHandler, type HttpHandlerOptions } from "./handler-options.ts";
import { HttpError } from "./http-error.ts";
import { get, submit, wait } from "./operations.ts";
import { logError, reporter } from "./report-error.ts";
import { errorResponse, json, toHttpError } from "./respond.ts";
import { matchRoute, type Route } from "./routes.ts";

/** What the platform offers for this one invocation. */
export interface HandlerInvocation {
  /** Keeps the invocation alive for a promise, so that a drain survives a caller that hangs up. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** When the invocation will be stopped, as a Date or epoch milliseconds. */
  readonly deadline?: Date | number | undefined;
}

export type HttpHandler = (request: Request, invocation?: HandlerInvocation) => Promise<Response>;

/**
 * One `Request -> Response` handler for every platform that speaks fetch. Each request carries
 * `Authorization: Bearer <secret>`; each answer is JSON and never cached.
 *
 * - `POST /tasks` with `{ name, payload, key?, conflict?, debounce?, throttle?, queue?, delayMs?, priority?, maxAttempts?,
 *   maxCrashes?, metadata?, correlationId?, parentId?, rootId? }`: 201 with the new task, 200 with the task the key had (`outcome` tells too).
 * - `GET /tasks/:id`, `GET /keys/:key`, `GET /keys?key=`: 200 with the task.
 * - `GET /tasks/:id/wait`, `GET /keys/:key/wait`, `GET /wait?id=` or `?key=`, each with `timeoutMs` in the query: 200 with
 *   the task once it has succeeded, failed or was canceled; 202 with the task as last seen when the time is up: ask again.
 * - `POST /drain`, `GET /drain`: runs due tasks within the budget, 200 with the DrainSummary.
 *
 * A key goes into a path as `encodeURIComponent` writes it. URLs have no path for the keys `.`, `..` and `wait`: the query
 * takes every key.
 *
 * Errors are `{ error: { code, message, retryable } }`: 400 (an argument, a body that is not JSON), 401, 404, 405,
 * 408 (the body came too slowly), 409 (the key is taken under `reject`), 413, 429 (the queue is full), 503 (the database is out of reach) and 500. What the database said
 * reaches only the log.
 *
 * @throws {InvalidArgument} if an option is out of range.
 * @example export default { fetch: createHandler({ wadi, worker, secret: env.WADI_SECRET }) };
 */
export function createHandler(options: HttpHandlerOptions): HttpHandler {
  const { budgetMs, maxWaitMs, ...limits } = checkHandler(options);
  const { basePath } = limits;
  const onError = reporter(options.onError ?? logError);
  const { wadi, worker } = options;
  const connect = async () => (typeof wadi === "function" ? wadi() : wadi);
  const guard = guardOf(options, onError);

  function routeOf({ url }: Request): Route | null {
    const { pathname } = new URL(url);
    if (!pathname.startsWith(`${basePath}/`)) return null;
    const route = matchRoute(pathname.slice(basePath.length));
    return route?.operation === "drain" && worker === undefined ? null : route;
  }

  async function drain({ waitUntil, deadline }: HandlerInvocation): Promise<Response> {
    const runner = typeof worker === "function" ? worker(await connect()) : worker!;
    const budgetEndMs = Date.now() + budgetMs;
    const draining = runner.drain({ deadline: Math.min(budgetEndMs, Number(deadline ?? budgetEndMs)) });
    waitUntil?.(draining.catch(() => {}));
    return json(200, await draining);
  }

  async function answer(request: Request, invocation: HandlerInvocation): Promise<Response> {
    const route = routeOf(request);
    if (route === null)
      throw new HttpError(
        404,
        "NOT_FOUND",
        "there is no such route; check the path and the basePath of the handler",
      );
    const allow = [...route.methods, "OPTIONS"].join(", ");
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    if (!route.methods.includes(request.method)) {
      throw new HttpError(405, "METHOD_NOT_ALLOWED", `this route takes ${allow}`, { headers: { allow } });
    }
    await guard(request, route);
    checkQuery(request, route);
    if (route.operation === "submit") return submit(request, connect, limits);
    if (route.operation === "get") return get(route, connect, request);
    if (route.operation === "wait") return wait(route, connect, request, maxWaitMs);
    return drain(invocation);
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
    // Whoever asks for headers only gets those of the GET.
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/** Refuses a query parameter the route does not take, and one that is given twice: neither is ignored. */
function checkQuery({ url }: Request, { query }: Route): void {
  const seen = new Set<string>();
  for (const name of new URL(url).searchParams.keys()) {
    const known = query.join(", ") || "none";
    if (!query.includes(name)) {
      throw new InvalidArgument(
        `this route has no query parameter "${name.slice(0, 40)}"; it takes ${known}`,
      );
    }
    if (seen.has(name)) throw new InvalidArgument(`the query has ${name} more than once; pass it once`);
    seen.add(name);
  }
}

/** Lets a request pass that carries an accepted token, and throws the refusal of any other. */
function guardOf(
  options: HttpHandlerOptions,
  onError: (error: unknown) => void,
): (request: Request, route: Route) => Promise<void> {
  const { secret, cronSecret, secretHint } = options;
  const all = accepted("secret", secret);
  const forCron = accepted("cronSecret", cronSecret);
  const forDrain = [...all, ...forCron];
  // A handler that names the option expects cron jobs, whose platform sends no token without it.
  const lacksCron = "cronSecret" in options && forCron.length === 0;
  const checkAll = tokenCheck(all);
  const checkDrain = tokenCheck(forDrain);
  const headers = { "www-authenticate": "Bearer" };
  let told = false;
  let toldCron = false;

  return async (request, { operation }) => {
    const [tokens, check]: [string[], TokenCheck] =
      operation === "drain" ? [forDrain, checkDrain] : [all, checkAll];
    if (tokens.length === 0) {
      const message = "no secret is configured, so every request is refused";
      const how = secretHint ?? "pass `secret` to createHandler, from the environment";
      if (!told) onError(new HttpError(401, "UNAUTHORIZED", `${message}: ${how}`));
      told = true;
      throw new HttpError(401, "UNAUTHORIZED", `${message}; the log of this function says how to set one`, {
        headers,
      });
    }
    const token = bearerToken(request);
    if (token !== null && (await check(token))) return;
    if (operation === "drain" && lacksCron && !toldCron) {
      toldCron = true;
      const how = secretHint ?? "pass `cronSecret` to createHandler, from the environment";
      onError(
        new HttpError(401, "UNAUTHORIZED", `no cronSecret is configured, so a cron job is refused: ${how}`),
      );
    }
    const message =
      token === null ? "send the secret as `Authorization: Bearer <secret>`" : "this is not the secret";
    throw new HttpError(401, "UNAUTHORIZED", message, { headers });
  };
}

function accepted(option: string, secret: unknown): string[] {
  if (secret === undefined || secret === null) return [];
  if (typeof secret !== "string") {
    throw new InvalidArgument(`${option} must be a string or undefined, got ${typeof secret}`);
  }
  // A secret that came through a shell may end in a newline, which no header can carry.
  return secret.trim() === "" ? [] : [secret.trim()];
}

/** Nobody reads this answer; the status is for logs. */
function clientGone(): HttpError {
  return new HttpError(499, "CLIENT_CLOSED_REQUEST", "the client closed the request");
}
