/** Decides which requests the HTTP handler accepts, by the token that they carry. */

import { InvalidArgument } from "../core/errors/errors.ts";
import { isKickToken, KICK_AUDIENCE, verifyKick } from "../producer/wake/kick-token.ts";
import { bearerToken, tokenCheck } from "./bearer-token.ts";
import type { HttpHandlerOptions } from "./handler-options.ts";
import { HttpError } from "./http-error.ts";
import type { Route } from "./routes.ts";

const CHALLENGE = { "www-authenticate": "Bearer" };

/** A request that carries an accepted token. */
export interface Access {
  /** The hop of a kick; null: the request is none. */
  readonly kickHop: number | null;
}

/** Resolves for a request that carries an accepted token, and rejects with the refusal of any other. */
export type Authorize = (request: Request, route: Route) => Promise<Access>;

/**
 * Makes the check of a handler: the secret opens every route, the cron secret and a signed kick only `/drain`. A secret
 * that is missing is reported to `onError` once: its requests are refused with an answer that does not name the set-up.
 */
export function authorizerOf(options: HttpHandlerOptions, onError: (error: unknown) => void): Authorize {
  const { secret, cronSecret, secretHint, audience = KICK_AUDIENCE } = options;
  const forAll = acceptedTokens("secret", secret);
  const forCron = acceptedTokens("cronSecret", cronSecret);
  // A handler that names the option expects cron jobs, whose platform sends no token unless a secret is set.
  const lacksCron = "cronSecret" in options && forCron.length === 0;
  const everyRoute = { tokens: forAll, check: tokenCheck(forAll) };
  const drainRoute = { tokens: [...forAll, ...forCron], check: tokenCheck([...forAll, ...forCron]) };
  const reported = new Set<string>();

  function report(option: "secret" | "cronSecret", message: string): void {
    if (reported.has(option)) return;
    reported.add(option);
    const how = secretHint ?? `pass \`${option}\` to createHandler, from the environment`;
    onError(unauthorized(`${message}: ${how}`));
  }

  return async (request, { operation }) => {
    const { tokens, check } = operation === "drain" ? drainRoute : everyRoute;
    if (tokens.length === 0) {
      const message = "no secret is configured, so every request is refused";
      report("secret", message);
      throw unauthorized(`${message}; the log of this function says how to set one`, CHALLENGE);
    }
    const token = bearerToken(request);
    if (token !== null && operation === "drain" && isKickToken(token)) {
      const kickHop = await verifyKick(token, tokens, audience);
      if (kickHop !== null) return { kickHop };
      throw unauthorized("this kick is expired, or not signed for this handler", CHALLENGE);
    }
    if (token !== null && (await check(token))) return { kickHop: null };
    if (operation === "drain" && lacksCron) {
      report("cronSecret", "no cronSecret is configured, so a cron job is refused");
    }
    throw unauthorized(
      token === null ? "send the secret as `Authorization: Bearer <secret>`" : "this is not the secret",
      CHALLENGE,
    );
  };
}

function unauthorized(message: string, headers: Readonly<Record<string, string>> = {}): HttpError {
  return new HttpError(401, "UNAUTHORIZED", message, { headers });
}

function acceptedTokens(option: string, secrets: unknown): string[] {
  if (secrets === undefined || secrets === null) return [];
  const list = (Array.isArray(secrets) ? secrets : [secrets]) as unknown[];
  // A secret that came through a shell may end in a newline, which no header can carry.
  return list
    .map((secret) => {
      if (typeof secret === "string") return secret.trim();
      throw new InvalidArgument(`${option} must be a string or undefined, got ${typeof secret}`);
    })
    .filter((secret) => secret !== "");
}
