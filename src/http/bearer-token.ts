/** Bearer tokens: how one is read from a request and compared in constant time. */

/** Whether a token is accepted. The time it takes does not depend on how much of the token is right. */
export type TokenCheck = (token: string) => Promise<boolean>;

/**
 * Compares SHA-256 digests instead of the texts: they have the same length, and the place where two digests first
 * differ reveals nothing about the secret. The token is compared with every accepted one, even after a match.
 */
export function tokenCheck(accepted: readonly string[]): TokenCheck {
  let digests: Promise<Uint8Array[]> | undefined;
  return async (token) => {
    digests ??= Promise.all(accepted.map(sha256));
    const presented = await sha256(token);
    let matches = 0;
    for (const digest of await digests) matches |= Number(equal(presented, digest));
    return matches === 1;
  };
}

/** The token of `Authorization: Bearer <token>`, null if there is none. */
export function bearerToken(request: Request): string | null {
  const match = /^Bearer +(.+)$/i.exec(request.headers.get("authorization")?.trim() ?? "");
  return match?.[1] ?? null;
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ (b[i] ?? 0);
  return difference === 0;
}
