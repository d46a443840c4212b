/** The most bytes of names, queues and keys, which the database indexes. */

import { InvalidArgument } from "./errors/errors.ts";
import { byteLength } from "./json/json.ts";

/**
 * Most bytes of UTF-8 of an indexed text, or of all texts in one index entry. Postgres refuses an entry of more than
 * 2,704 bytes, of which numbers, an id and the entry's header take up to a hundred. The limit is the same for every
 * database, so that a task fits each of them.
 */
export const MAX_INDEXED_BYTES = 2_600;

/** Most bytes of a worker's name: the lease token, which is longer, shares an index entry with a `limits.key`. */
export const MAX_WORKER_NAME_BYTES = 500;

/** Most bytes of a `limits.key`, which shares an index entry with such a token. */
export const MAX_LIMITS_KEY_BYTES = 2_000;

/** @throws {InvalidArgument} naming the option and the size, never the text. */
export function checkIndexed(option: string, text: string, maxBytes = MAX_INDEXED_BYTES): string {
  const bytes = text.length * 3 > maxBytes ? byteLength(text) : 0;
  if (bytes <= maxBytes) return text;
  throw new InvalidArgument(
    `${option} must be at most ${maxBytes} bytes of UTF-8, which every database can index, got ${bytes}; ` +
      `shorten it${option.endsWith("key") ? " or pass a hash of it" : ""}`,
  );
}

/** Checks texts that share an index entry: each may be short enough while all of them together are too long. */
export function checkIndexedTogether(texts: Readonly<Record<string, string>>): void {
  const chars = Object.values(texts).reduce((sum, { length }) => sum + length, 0);
  if (chars * 3 <= MAX_INDEXED_BYTES) return;
  const given = Object.entries(texts).filter(([, text]) => text !== "");
  const sizes = given.map(([option, text]) => [option, byteLength(text)] as const);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (bytes <= MAX_INDEXED_BYTES) return;
  throw new InvalidArgument(
    `${given.map(([option]) => option).join(", ")} share an index entry and must be at most ${MAX_INDEXED_BYTES} ` +
      `bytes of UTF-8 together, got ${sizes.map(([, size]) => size).join(" + ")}; shorten one of them`,
  );
}
