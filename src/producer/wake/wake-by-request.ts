/** Wakes that send a request to the drain route of `createHandler`: over the network or through a binding. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { onlyKnown, show, text } from "../../core/validate.ts";
import { checkSecrets, KICK_AUDIENCE, signKick } from "./kick-token.ts";
import type { DelayingWake, Kick } from "./wake.ts";

/** Options of `wakeByFetch` and `wakeByBinding`. */
export interface RequestWakeOptions {
  /** Whom the kick is for: the `audience` of the handler that gets it. @default "wadi" */
  readonly audience?: string | undefined;
}

/** Options of `wakeByBinding`. */
export interface BindingWakeOptions extends RequestWakeOptions {
  /** The URL of the drain route as the other side sees it. @default "https://wadi.internal/drain" */
  readonly url?: string | undefined;
}

/** What sends a request without a URL of the network: a service binding or the stub of a Durable Object. */
export interface FetcherLike {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Longest wait for an answer. The drain that was started goes on. */
const TIMEOUT_MS = 10_000;
const INTERNAL_URL = "https://wadi.internal/drain";

/**
 * Kicks by a signed `POST` to the drain route of `createHandler`, which starts a drain and answers at once if its
 * platform has `waitUntil`.
 *
 * @param secret The handler's `secret` or `cronSecret`; of a list the first signs.
 * @throws {InvalidArgument} if the URL or a secret is missing.
 * @example
 * ```ts
 * import { Wadi, wakeByFetch } from "wadi";
 *
 * const wake = wakeByFetch("https://app.example.com/drain", env.WADI_SECRET!);
 * const wadi = new Wadi(executor, { wake });
 * ```
 */
export function wakeByFetch(
  url: string | URL,
  secret: string | readonly string[],
  options: RequestWakeOptions = {},
): DelayingWake {
  onlyKnown("wakeByFetch", options, ["audience"]);
  const target = URL.parse(String(url));
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new InvalidArgument(
      "wakeByFetch takes the absolute URL of the drain route, with http or https, such as https://host/drain",
    );
  }
  const [signing] = checkSecrets("the secret of wakeByFetch", secret);
  const fetcher = { fetch: (at: string, init: RequestInit) => fetch(at, init) };
  return requestWake(fetcher, target.href, signing!, options);
}

/**
 * Kicks through a service binding of Cloudflare, or any object with `fetch`: the Worker itself needs no URL for that.
 *
 * @param secret As for `wakeByFetch`. Without it the request is not signed, and `createHandler` refuses it.
 * @throws {InvalidArgument} if `fetcher` has no `fetch`.
 * @example
 * ```ts
 * import { type FetcherLike, Wadi, wakeByBinding } from "wadi";
 *
 * const connect = (self: FetcherLike) => new Wadi(executor, { wake: wakeByBinding(self, env.WADI_SECRET) });
 * ```
 */
export function wakeByBinding(
  fetcher: FetcherLike,
  secret?: string | readonly string[],
  options: BindingWakeOptions = {},
): DelayingWake {
  onlyKnown("wakeByBinding", options, ["audience", "url"]);
  if (typeof fetcher?.fetch !== "function") {
    throw new InvalidArgument(`wakeByBinding takes a binding with fetch, got ${show(fetcher)}`);
  }
  const secrets = secret === undefined ? [] : checkSecrets("the secret of wakeByBinding", secret);
  return requestWake(fetcher, options.url ?? INTERNAL_URL, secrets[0], options);
}

function requestWake(
  fetcher: FetcherLike,
  url: string,
  secret: string | undefined,
  { audience = KICK_AUDIENCE }: RequestWakeOptions,
): DelayingWake {
  text("audience", audience);
  const kick = async ({ hop }: Kick): Promise<void> => {
    const headers: Record<string, string> = { "user-agent": "wadi-kick" };
    if (secret !== undefined) headers.authorization = `Bearer ${await signKick(secret, audience, hop)}`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const init: RequestInit = { method: "POST", headers, redirect: "manual", signal };
    const response = await fetcher.fetch(url, init).catch((cause: unknown) => {
      throw new Error(unanswered(cause, url), { cause });
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(refusal(response.status, url));
  };
  return { kick };
}

/** Where a kick goes, without the query and the password that a URL may have. */
function placeOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "the binding" : parsed.host + parsed.pathname;
}

function unanswered(cause: unknown, url: string): string {
  return (cause as Error | undefined)?.name === "TimeoutError"
    ? `the kick was not answered within ${TIMEOUT_MS} ms by ${placeOf(url)}; a drain that it started there goes on`
    : `the kick could not be sent to ${placeOf(url)}; its tasks wait for the next kick or cron job`;
}

function refusal(status: number, url: string): string {
  const reason =
    status === 401
      ? "its secret and its audience must be those of the handler there"
      : status === 404
        ? "its URL must be the drain route of a handler that has a worker"
        : "see the log of the handler there";
  return `the kick was answered with status ${status} by ${placeOf(url)}; ${reason}`;
}
