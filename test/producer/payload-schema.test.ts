// The schema of a task's payload: what may be one, and what happens to a payload that it refuses.

import * as v from "valibot";
import { expect, test } from "vitest";
import { defineTask } from "../../src/index.ts";
import { memoryWadi } from "../../testing/memory.ts";

test("what is no schema is refused where the task is defined", () => {
  expect(() => defineTask({ name: "a", payload: {} as never })).toThrow(
    /^payload must be a Standard Schema \(zod, valibot, arktype, ...\), got object$/,
  );
});

test("a payload its schema refuses, with the places that are wrong and never the value", async () => {
  const task = defineTask({
    name: "mail",
    payload: v.object({ to: v.pipe(v.string(), v.email()), n: v.number() }),
  });
  const wadi = memoryWadi();
  await expect(wadi.submit(task, { to: "hunter2", n: "1" as never })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(/^the payload of mail does not match its schema at to, n$/),
  });
  expect(await wadi.list()).toEqual([]);
});
