// The form and the order of the ids of tasks.

import { expect, test } from "vitest";
import { newTaskId, ulid } from "../../src/core/ulid.ts";

// First, while the process has no later id yet.
test("the first ten characters are the time, as in the specification's own example", () => {
  expect(ulid(1_469_918_176_385).slice(0, 10)).toBe("01ARYZ6S41");
});

test("ids of one process grow strictly, also within a millisecond", () => {
  const ids = Array.from({ length: 20_000 }, () => newTaskId());
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("an id is task_ and 26 characters of Crockford base 32", () => {
  expect(newTaskId()).toMatch(/^task_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
});

test("a clock that steps back does not make an id smaller", () => {
  const later = ulid(9_000_000_000_000);
  expect(ulid(8_999_999_999_000) > later).toBe(true);
});
