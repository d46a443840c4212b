/** Ids that sort by the time they were created at. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 12;
/** The last four digits are a counter. It starts in the lower half, so that a millisecond has room for 500,000 ids. */
const COUNTER_LIMIT = 32 ** 4;

/** Random bytes are fetched for this many ulids at a time: a call into the platform costs more than the rest. */
const POOL = 64;

let lastMs = 0;
let head = "";
let counter = COUNTER_LIMIT;
const pool = new Uint8Array(POOL * (RANDOM_DIGITS + 3));
let used = pool.length;

/** A ULID (https://github.com/ulid/spec). Within one process each is greater than the one before. */
export function ulid(nowMs: number = Date.now()): string {
  counter++;
  if (nowMs > lastMs || counter >= COUNTER_LIMIT) {
    lastMs = Math.max(nowMs, lastMs + 1);
    head = "";
    for (let at = TIME_DIGITS - 1; at >= 0; at--) head += ALPHABET[Math.floor(lastMs / 32 ** at) % 32];
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const random = pool.subarray(used);
    used += RANDOM_DIGITS + 3;
    for (let i = 0; i < RANDOM_DIGITS; i++) head += ALPHABET[random[i]! % 32];
    counter = ((random[12]! << 16) | (random[13]! << 8) | random[14]!) % (COUNTER_LIMIT / 2);
  }
  return (
    head +
    ALPHABET[counter >> 15] +
    ALPHABET[(counter >> 10) & 31] +
    ALPHABET[(counter >> 5) & 31] +
    ALPHABET[counter & 31]
  );
}

export const newTaskId = (): string => `task_${ulid()}`;
