// Types of limits, retention and histories.

import * as v from "valibot";
import { expectTypeOf, test } from "vitest";
import { defineTask, type TaskFailure, type TaskStatus, type Wadi } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
declare const wadi: Wadi;

interface Tenant {
  readonly tenant: string;
  readonly number: number;
}

test("the key of a definition's limits is a text, or comes from the payload as it is submitted", () => {
  const _ = () => {
    defineTask<Tenant>({
      name: "a",
      limits: { key: (payload) => payload.tenant, concurrency: 5 },
    });
    defineTask<Tenant>({ name: "a", limits: { key: "api", rate: { count: 10, perMs: 1000 } } });
    // @ts-expect-error: the payload has no such field
    defineTask<Tenant>({ name: "a", limits: { key: (payload) => payload.tenants, concurrency: 5 } });
    // @ts-expect-error: a key is a text
    defineTask<Tenant>({ name: "a", limits: { key: (payload) => payload.number, concurrency: 5 } });
    // @ts-expect-error: a rate has a window
    defineTask({ name: "a", limits: { key: "api", rate: { count: 10 } } });
    // @ts-expect-error: there is no such option
    defineTask({ name: "a", limits: { key: "api", most: 5 } });
    defineTask({
      name: "a",
      payload: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
      limits: {
        key(payload) {
          expectTypeOf(payload).toEqualTypeOf<{ n: string }>();
          return payload.n;
        },
        concurrency: 1,
      },
    });
  };
});

test("the key of a submit's limits is a text", () => {
  const _ = () => {
    wadi.submit("a", null, { limits: { key: "tenant-1", concurrency: 5, rate: { count: 1, perMs: 1000 } } });
    // @ts-expect-error: limits need a key
    wadi.submit("a", null, { limits: { concurrency: 5 } });
    // @ts-expect-error: a submit knows its payload
    wadi.submit("a", null, { limits: { key: () => "tenant-1", concurrency: 5 } });
    wadi.submitMany("a", [{ payload: 1, limits: { key: "tenant-1", concurrency: 5 }, maxCrashes: 1 }]);
    // @ts-expect-error: entries have the same options
    wadi.submitMany("a", [{ payload: 1, limits: { key: 1, concurrency: 5 } }]);
    // @ts-expect-error: a number of crashes
    wadi.submit("a", null, { maxCrashes: "3" });
  };
});

test("a retention rule takes terminal statuses only", () => {
  const _ = async () => {
    wadi.sweep([{ queue: "rpc", olderThanMs: 1000 }, { olderThanMs: { failed: 5000 } }]);
    // @ts-expect-error: queued tasks are not swept
    wadi.sweep([{ olderThanMs: { queued: 5000 } }]);
    // @ts-expect-error: nor are running ones
    wadi.purge({ olderThanMs: 0, status: "running" });
    // @ts-expect-error: every rule has an age
    wadi.sweep([{ queue: "rpc" }]);
  };
});

test("the history of a task is typed", () => {
  const _ = async () => {
    const failures = await wadi.failures("task_x");
    expectTypeOf(failures).toEqualTypeOf<TaskFailure[]>();
    // @ts-expect-error: an id, not a task's number
    wadi.failures(5);
    expectTypeOf((await wadi.getStatus("task_x"))?.status).toEqualTypeOf<TaskStatus | undefined>();
  };
});
