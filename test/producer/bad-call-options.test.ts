// Wrong options of calls and waits are refused before anything is sent.

import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { Wadi, Worker } from "../../src/index.ts";

const bad: [what: string, call: (wadi: Wadi) => unknown, message: string | RegExp][] = [
  [
    "what is no task",
    (w) => w.watch({ queues: ["mail"] } as never),
    "watch takes a task or its id, got an object without an id",
  ],
  ["no task at all", (w) => w.wait(undefined as never), "wait takes a task or its id, got undefined"],
  [
    "an option of a watch that has another name here",
    (w) => w.watch("a", { pollIntervalMs: 5 } as never),
    'watch has no option "pollIntervalMs"; in Wadi it is pollMs',
  ],
  [
    "a signal among the options of a list",
    (w) => w.list({ signal: AbortSignal.timeout(5) } as never),
    'list has no option "signal"; in Wadi it is signal of a separate argument: (..., options, { signal, deadlineMs })',
  ],
  [
    "a signal's controller",
    (w) => w.submit("a", 1, { signal: new AbortController() as never }),
    "signal must be an AbortSignal, got an AbortController; pass its signal",
  ],
  ["no signal of a wait", (w) => w.wait("a", { signal: 5 as never }), "signal must be an AbortSignal, got 5"],
  [
    "no signal of a read",
    (w) => w.get("a", { signal: {} as never }),
    "signal must be an AbortSignal, got object",
  ],
  [
    "a deadline of a read that is a duration",
    (w) => w.list({}, { deadlineMs: 5000 }),
    /^deadlineMs must be epoch milliseconds/,
  ],
  [
    "a misspelt option of a read",
    (w) => w.get("a", { timeoutMs: 5 } as never),
    'get has no option "timeoutMs"; it takes signal, deadlineMs',
  ],
  [
    "an option of a submit that is none",
    (w) => w.submit("a", 1, { timeoutMs: 5 } as never),
    /^submit has no option "timeoutMs"; it takes key, .*, signal, deadlineMs$/,
  ],
  [
    "an option of a drain, given to its worker",
    (w) => new Worker(w, { maxQueries: 900 } as never),
    'new Worker has no option "maxQueries"; in Wadi it is maxQueries of drain',
  ],
  [
    "a flag that is none",
    (w) => w.retry("a", { resetAttempt: "yes" as never }),
    "resetAttempt must be true or false, got string",
  ],
];

test.each(bad)("%s is refused before anything is sent", async (_what, call, message) => {
  const executor = betterSqlite3(new Database(":memory:"));
  const send = () => expect.fail("nothing may be sent");
  const wadi = new Wadi({ ...executor, run: send, batch: send });
  const error = await (async () => call(wadi))().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect((error as Error).message).toMatch(message);
});
