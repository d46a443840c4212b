/** Says whether a token is one of the accepted ones, in a time that does not depend on how much of it is right. */
export type TokenCheck = (token: string) => Promise<boolean>;

/**
 * Compares SHA-256 digests instead of the texts: they have one length, and where two of them first differ tells
 * nothing about the secret. Every accepted token is compared to the end, whatever the others said.
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
