const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

let lastMs = 0;
let digits: number[] = [];

/** A ULID (https://github.com/ulid/spec). Within one process each is greater than the one before it. */
export function ulid(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    const random = crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS));
    digits = Array.from(
      { length: TIME_DIGITS },
      (_, i) => Math.floor(nowMs / 32 ** (TIME_DIGITS - 1 - i)) % 32,
    );
    for (const byte of random) digits.push(byte % 32);
  } else {
    // One more than the last; should the random digits overflow, the carry goes into the time.
    let at = digits.length - 1;
    while (digits[at] === 31) digits[at--] = 0;
    digits[at]!++;
  }
  let id = "";
  for (const digit of digits) id += ALPHABET[digit];
  return id;
}

export const newTaskId = (): string => `task_${ulid()}`;
