const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RANDOM_CHARS = 16;

let lastMs = 0;
let lastRandom: number[] = [];

function randomDigits(): number[] {
  return Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_CHARS)), (byte) => byte & 31);
}

/** Adds one to a base-32 number; false if it overflowed. */
function increment(digits: number[]): boolean {
  for (let i = digits.length - 1; i >= 0; i--) {
    if (digits[i]! < 31) {
      digits[i]!++;
      return true;
    }
    digits[i] = 0;
  }
  return false;
}

/** A ULID (https://github.com/ulid/spec). Within one process each is greater than the one before it. */
export function ulid(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastRandom = randomDigits();
  } else if (!increment(lastRandom)) {
    lastMs++;
    lastRandom = randomDigits();
  }
  let time = "";
  for (let rest = lastMs, i = 0; i < 10; i++) {
    time = ALPHABET[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const digit of lastRandom) random += ALPHABET[digit];
  return time + random;
}

export const newTaskId = (): string => `task_${ulid()}`;
