/** Signs kicks, so that a drain that is open to the network is started, and chained, only by its own application. */

import { InvalidArgument } from "../../core/errors/errors.ts";
import { MAX_HOPS } from "../../core/operations/wake.ts";
import { show } from "../../core/validate.ts";

/** Whom a kick is for, unless an option says otherwise. */
export const KICK_AUDIENCE = "wadi";

const PREFIX = "wadi-kick";
/** The clocks of sender and receiver may differ by this, less the time that the kick is on its way. */
const LIFETIME_MS = 120_000;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/** A token for one kick, signed with the first of the secrets. It is valid for two minutes. */
export async function signKick(secret: string, audience: string, hop: number): Promise<string> {
  const expiresAtMs = Date.now() + LIFETIME_MS;
  const signature = await crypto.subtle.sign(
    HMAC,
    await keyOf(secret, "sign"),
    messageOf(audience, hop, expiresAtMs),
  );
  return `${PREFIX}.${hop}.${expiresAtMs}.${hexOf(new Uint8Array(signature))}`;
}

/** Whether a bearer token claims to be one for a kick. */
export function isKickToken(token: string): boolean {
  return token.startsWith(`${PREFIX}.`);
}

/** The hop of a valid token; null if it is expired, for another audience, or signed with none of the secrets. */
export async function verifyKick(
  token: string,
  secrets: readonly string[],
  audience: string,
): Promise<number | null> {
  const match = /^wadi-kick\.(\d{1,4})\.(\d{1,16})\.([0-9a-f]{64})$/.exec(token);
  if (match === null) return null;
  const [hop, expiresAtMs] = [Number(match[1]), Number(match[2])];
  const signature = Uint8Array.from(match[3]!.match(/../g)!, (byte) => Number.parseInt(byte, 16));
  const message = messageOf(audience, hop, expiresAtMs);
  const checks = secrets.map(async (secret) =>
    crypto.subtle.verify(HMAC, await keyOf(secret, "verify"), signature, message),
  );
  const isSigned = (await Promise.all(checks)).includes(true);
  return isSigned && expiresAtMs > Date.now() && hop <= MAX_HOPS ? hop : null;
}

/** The secrets of an option, without white space around them. @throws {InvalidArgument} if there is none. */
export function checkSecrets(option: string, value: unknown): readonly string[] {
  const secrets = (Array.isArray(value) ? value : [value]) as unknown[];
  const trimmed = secrets.map((secret) => (typeof secret === "string" ? secret.trim() : ""));
  if (trimmed.length > 0 && trimmed.every((secret) => secret !== "")) return trimmed;
  const found = typeof value === "string" ? "an empty string" : show(value);
  throw new InvalidArgument(
    `${option} must be a secret, or a list of secrets of which the first signs, got ${found}; ` +
      "is its environment variable set?",
  );
}

function messageOf(audience: string, hop: number, expiresAtMs: number) {
  return new TextEncoder().encode(JSON.stringify([PREFIX, audience, hop, expiresAtMs]));
}

function keyOf(secret: string, use: "sign" | "verify"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), HMAC, false, [use]);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
