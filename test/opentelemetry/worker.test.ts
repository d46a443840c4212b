// Traces from a submit in one process to its run in another.

import { context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { type Json, type TaskContext, TaskError, Wadi, Worker } from "../../src/index.ts";
import { openTelemetry } from "../../src/opentelemetry/index.ts";
import { ManualClock, memoryWadi } from "../../testing/memory.ts";
import { storeOf } from "../../testing/store.ts";
import { registerGlobals, Sdk } from "./sdk.ts";

/** Two processes on one database, each with a separate SDK. */
function processes(options: { relation?: "link" | "parent"; baggage?: boolean } = {}) {
  const db = new Database(":memory:");
  const clock = new ManualClock();
  const [web, background] = [new Sdk(), new Sdk()];
  const telemetry = (sdk: Sdk) => openTelemetry({ ...sdk.providers, ...options });
  const producer = new Wadi(betterSqlite3(db), { clock: clock.read, ...telemetry(web).producer });
  const hooks = telemetry(background);
  const consumer = new Wadi(betterSqlite3(db), { clock: clock.read, ...hooks.producer });
  const worker = new Worker(consumer, { ...hooks.worker, leaseMs: 1000, backoff: { baseMs: 0 } });
  return { db, web, background, producer, worker, clock };
}

let unregister: () => void;
beforeEach(() => {
  unregister = registerGlobals();
});
afterEach(() => unregister());

const NAMES = {
  "messaging.system": "wadi",
  "messaging.operation.name": "process",
  "messaging.operation.type": "process",
  "messaging.destination.name": "default",
  "wadi.task.name": "mail",
};

describe("a task submitted in one process and run in another", () => {
  test("is linked to the span that submitted it, and its children to its own", async () => {
    const { web, background, producer, worker } = processes();
    worker.task("mail", (ctx) => ctx.submit("child", null).then(() => null)).task("child", () => null);
    await web.inSpan("request", () => producer.submit("mail", { to: "x" }));
    await worker.drain();
    const [request, mail] = [web.span("request"), background.span("process mail")];
    expect(mail.links.map((link) => link.context.spanId)).toEqual([request.spanContext().spanId]);
    expect(mail.spanContext().traceId).not.toBe(request.spanContext().traceId);
    const child = background.span("process child");
    expect(child.links.map((link) => link.context.spanId)).toEqual([mail.spanContext().spanId]);
    expect(background.openSpans).toBe(0);
  });

  test("is in its trace with its baggage, where that is asked for", async () => {
    const { web, background, producer, worker } = processes({ relation: "parent", baggage: true });
    let tenant: string | undefined;
    worker.task("mail", () => {
      tenant = propagation.getActiveBaggage()?.getEntry("tenant")?.value;
    });
    const bag = propagation.createBaggage({ tenant: { value: "7" } });
    await context.with(propagation.setBaggage(context.active(), bag), () =>
      web.inSpan("request", () => producer.submitMany("mail", [{ payload: 1 }])),
    );
    await worker.drain();
    const request = web.span("request").spanContext();
    expect(background.span("process mail").spanContext().traceId).toBe(request.traceId);
    expect(background.span("process mail").parentSpanContext?.spanId).toBe(request.spanId);
    expect(tenant).toBe("7");
  });

  test("carries its context together with the metadata of its submit, and no baggage unless asked", async () => {
    const { web, producer } = processes();
    const bag = propagation.createBaggage({ tenant: { value: "7" } });
    const task = await context.with(propagation.setBaggage(context.active(), bag), () =>
      web.inSpan("request", () => producer.submit("mail", 1, { metadata: { from: "web" } })),
    );
    const { traceId, spanId } = web.span("request").spanContext();
    expect(task.metadata).toEqual({ from: "web", traceparent: `00-${traceId}-${spanId}-01` });
  });
});

test("a batch is one span, linked to each span that submitted a task of it", async () => {
  const { web, background, producer, worker } = processes();
  worker.task(
    "mail",
    (contexts) => contexts[1]!.fail(new TaskError("no", { code: "bounced", retryable: false })),
    {
      batch: 10,
    },
  );
  for (const name of ["first", "second"]) await web.inSpan(name, () => producer.submit("mail", name));
  await worker.drain();
  const span = background.span("process mail");
  const submitted = ["first", "second"].map((name) => web.span(name).spanContext().spanId);
  expect(span.links.map((link) => link.context.spanId)).toEqual(submitted);
  expect(span.attributes).toMatchObject({ "messaging.batch.message_count": 2, "error.type": "bounced" });
  expect(span.events.map(({ name }) => name)).toEqual(["wadi.task.ended", "exception"]);
  expect(background.openSpans).toBe(0);
});

test("a long-running worker starts separate traces, regardless of the process that woke it", async () => {
  const background = new Sdk();
  const { worker: hooks } = openTelemetry(background.providers);
  const wadi = memoryWadi();
  const worker = new Worker(wadi, { ...hooks }).task("mail", () => null);
  const ended = worker.run();
  await background.inSpan("request", () => wadi.call("mail", null));
  await worker.stop();
  await ended;
  const [request, mail] = [background.span("request"), background.span("process mail")];
  expect(mail.parentSpanContext).toBeUndefined();
  expect(mail.spanContext().traceId).not.toBe(request.spanContext().traceId);
});

describe("the span of an attempt", () => {
  const attempt = async (handler: (ctx: TaskContext, clock: ManualClock) => unknown) => {
    const { producer, worker, background, clock } = processes();
    worker.task("mail", (ctx) => handler(ctx, clock));
    await producer.submit("mail", { secret: "s3cret" });
    await worker.drain({ maxTasks: 1 });
    expect(background.openSpans).toBe(0);
    return { background, span: background.span("process mail") };
  };

  test("is active in the handler, also after it waited", async () => {
    let inside: string | undefined;
    const { span } = await attempt(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      inside = trace.getActiveSpan()?.spanContext().spanId;
    });
    expect(inside).toBe(span.spanContext().spanId);
  });

  test("reports a success by its outcome", async () => {
    const { span } = await attempt(() => "done");
    expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(span.attributes["wadi.task.outcome"]).toBe("succeeded");
  });

  test("reports a failure that will be tried again, with its stack", async () => {
    const { span } = await attempt(() => {
      throw new RangeError("too far");
    });
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: "too far" });
    expect(span.attributes).toMatchObject({ "wadi.task.outcome": "retried", "error.type": "RangeError" });
    expect(span.events).toMatchObject([
      { name: "exception", attributes: { "exception.type": "RangeError", "exception.message": "too far" } },
    ]);
    expect(span.events[0]!.attributes?.["exception.stacktrace"]).toContain("worker.test.ts");
  });

  test("reports a final failure by its code", async () => {
    const { span } = await attempt(() => {
      throw new TaskError("no such address", { code: "bounced", retryable: false, details: { secret: 1 } });
    });
    expect(span.attributes).toMatchObject({ "wadi.task.outcome": "failed", "error.type": "bounced" });
  });

  test("reports the outcome that the handler set before it returned", async () => {
    const { span } = await attempt((ctx) => {
      ctx.fail(new TaskError("no", { code: "declined", retryable: false }));
      return "late";
    });
    expect(span.attributes).toMatchObject({ "wadi.task.outcome": "failed", "error.type": "declined" });
  });

  test("reports a result that came after the lease was lost", async () => {
    const { span } = await attempt(async (ctx, clock) => {
      clock.advance(60_000);
      await ctx.heartbeat().catch(() => {});
      return "late";
    });
    expect(span.status.code).toBe(SpanStatusCode.ERROR);
    expect(span.attributes).toMatchObject({ "wadi.task.outcome": "lostLease", "error.type": "lost_lease" });
  });

  test("ends with its drain, though its handler never comes back", async () => {
    const { producer, worker, background } = processes();
    worker.task("mail", () => new Promise(() => {}));
    await producer.submit("mail", null);
    await worker.drain({ budgetMs: 50 });
    expect(background.openSpans).toBe(0);
    expect(background.span("process mail").attributes).toMatchObject({
      "wadi.task.outcome": "retried",
      "error.type": "handler_timeout",
    });
  });

  test("ends even if the database is gone when the handler returns", async () => {
    const { producer, worker, background, db } = processes();
    worker.task("mail", () => void db.close());
    await producer.submit("mail", null);
    await expect(worker.drain()).rejects.toMatchObject({ code: "DRIVER_ERROR" });
    expect(background.openSpans).toBe(0);
    expect(background.span("process mail").attributes["error.type"]).toBe("lost_lease");
  });

  test("never shows a payload or a result", async () => {
    const { background } = await attempt(() => "s3cret");
    const seen = (value: unknown): Json =>
      JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? 0 : v)));
    for (const { name, attributes, events, links, status } of background.spans)
      expect(JSON.stringify(seen({ name, attributes, events, links, status }))).not.toContain("s3cret");
  });
});

describe("the metrics of a worker", () => {
  test("count and measure its attempts", async () => {
    const { web, background, producer, worker, clock } = processes();
    let calls = 0;
    worker.task("mail", () => {
      if (++calls === 1) throw new TaskError("later", { code: "slow_down", delayMs: 1000 });
    });
    await producer.submitMany("mail", [{ payload: 1 }, { payload: 2 }]);
    clock.advance(2500);
    await worker.drain();
    clock.advance(3000);
    await worker.drain();
    const sent = { ...NAMES, "messaging.operation.name": "send", "messaging.operation.type": "send" };
    expect(await web.points("messaging.client.sent.messages")).toEqual([{ attributes: sent, value: 2 }]);
    expect(await background.points("messaging.client.consumed.messages")).toEqual([
      { attributes: NAMES, value: 3 },
    ]);
    const failed = { ...NAMES, "error.type": "slow_down" };
    expect(await background.points("messaging.process.duration")).toMatchObject([
      { attributes: failed, value: 1 },
      { attributes: NAMES, value: 2 },
    ]);
    expect(await background.points("wadi.task.attempts")).toEqual([
      { attributes: { ...failed, "wadi.task.outcome": "retried" }, value: 1 },
      { attributes: { ...NAMES, "wadi.task.outcome": "succeeded" }, value: 2 },
    ]);
    const [queued] = await background.points("wadi.task.queue_time");
    expect(queued).toEqual({ attributes: NAMES, value: 3, sum: 2.5 + 2.5 + 2 });
  });

  test("count the tasks whose lease expired", async () => {
    const { background, producer, worker, clock } = processes();
    worker.task("mail", () => null);
    await producer.submit("mail", null);
    const lanes = [{ queue: "default", name: "mail", quota: 1 }];
    const pools = [{ lanes, limit: 1 }];
    await storeOf(producer).claim({ pools, workerId: "killed", leaseMs: 1000, limited: false });
    clock.advance(2000);
    await worker.drain();
    expect(await background.points("wadi.task.recovered")).toEqual([
      { attributes: { ...NAMES, "wadi.task.status": "queued" }, value: 1 },
    ]);
  });
});
