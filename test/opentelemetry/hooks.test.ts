// The spans of the OpenTelemetry hooks.

import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Task, TaskContext, WorkerEvent } from "../../src/index.ts";
import { openTelemetry } from "../../src/opentelemetry/index.ts";
import { registerGlobals, Sdk } from "./sdk.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NAMED = { name: "mail", queue: "out" };

/** The part of a context that telemetry may read: reading the payload fails the test. */
function contextOf(task: Partial<Task> = {}): TaskContext {
  const whole = {
    id: "task_1",
    ...NAMED,
    attempt: 1,
    maxAttempts: 3,
    metadata: {},
    correlationId: null,
    ...task,
  };
  Object.defineProperty(whole, "payload", {
    get() {
      throw new Error("the payload was read");
    },
  });
  return { task: whole } as TaskContext;
}

const about = (id = "task_1") => ({ id, ...NAMED, attempt: 1, queuedMs: 250 });
const error = (code: string, type = "Error") => ({
  type,
  code,
  message: "no",
  retryable: true,
  details: null,
});
const started = (id?: string): WorkerEvent => ({ type: "started", ...about(id) });
const succeeded = (id?: string): WorkerEvent => ({ type: "succeeded", ...about(id), durationMs: 1500 });

let sdk: Sdk;
let unregister: () => void;
beforeEach(() => {
  unregister = registerGlobals();
  sdk = new Sdk();
});
afterEach(async () => {
  unregister();
  await sdk.shutdown();
});

test("a handler call is a consumer span by the conventions, open until its attempt is reported as ended", async () => {
  const { worker } = openTelemetry(sdk.providers);
  worker.onEvent(started());
  const inside = await worker.around([contextOf({ correlationId: "order-1" })], async () =>
    trace.getSpanContext(context.active()),
  );
  expect(sdk.openSpans).toBe(1);
  worker.onEvent(succeeded());
  const span = sdk.span("process mail");
  expect(inside).toEqual(span.spanContext());
  expect(span.kind).toBe(SpanKind.CONSUMER);
  expect(span.status).toEqual({ code: SpanStatusCode.UNSET });
  expect(span.attributes).toEqual({
    "messaging.system": "wadi",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": "out",
    "messaging.message.id": "task_1",
    "messaging.message.conversation_id": "order-1",
    "wadi.task.name": "mail",
    "wadi.task.attempt": 1,
    "wadi.task.max_attempts": 3,
    "wadi.task.outcome": "succeeded",
  });
});

describe("an attempt and the trace that submitted its task", () => {
  const submittedThere = contextOf({ metadata: { traceparent: TRACEPARENT, baggage: "tenant=7" } });
  const run = async (relation?: "link" | "parent", baggage?: boolean) => {
    const { worker } = openTelemetry({ ...sdk.providers, relation, baggage });
    let tenant: string | undefined;
    await sdk.inSpan("request", () =>
      worker.around([submittedThere], async () => {
        tenant = propagation.getActiveBaggage()?.getEntry("tenant")?.value;
      }),
    );
    return { span: sdk.span("process mail"), request: sdk.span("request").spanContext(), tenant };
  };

  test("are linked, and the span is a child of the request that drains", async () => {
    const { span, request, tenant } = await run();
    expect(span.parentSpanContext?.spanId).toBe(request.spanId);
    expect(span.links).toMatchObject([
      {
        context: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", isRemote: true },
        attributes: { "messaging.message.id": "task_1" },
      },
    ]);
    expect(tenant).toBeUndefined();
  });

  test("are parent and child where that is asked for", async () => {
    const { span, tenant } = await run("parent", true);
    expect(span.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
    expect(span.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
    expect(span.links).toEqual([]);
    expect(tenant).toBe("7");
  });

  test("have nothing to do with each other where the metadata holds no context, or something else", async () => {
    const { worker } = openTelemetry(sdk.providers);
    for (const metadata of [{}, { traceparent: 5, tracestate: ["a"], baggage: 5 }, { traceparent: "x" }])
      await worker.around([contextOf({ metadata })], async () => null);
    expect(sdk.spans.map(({ links, parentSpanContext }) => [links, parentSpanContext])).toEqual(
      Array(3).fill([[], undefined]),
    );
  });
});

describe("a batch", () => {
  const tasks = ["a", "b"].map((id) => contextOf({ id, metadata: { traceparent: TRACEPARENT } }));

  test("is one span with a link for each task, whatever the relation", async () => {
    const { worker } = openTelemetry({ ...sdk.providers, relation: "parent" });
    worker.onEvent(started("a"));
    worker.onEvent(started("b"));
    await worker.around(tasks, async () => null);
    worker.onEvent(succeeded("a"));
    expect(sdk.spans).toEqual([]);
    worker.onEvent({ type: "retried", ...about("b"), durationMs: 1, delayMs: 9, error: error("slow_down") });
    const span = sdk.span("process mail");
    expect(span.attributes).toMatchObject({ "messaging.batch.message_count": 2, "error.type": "slow_down" });
    expect(span.attributes).not.toHaveProperty("messaging.message.id");
    expect(span.links.map((link) => link.attributes)).toEqual([
      { "messaging.message.id": "a" },
      { "messaging.message.id": "b" },
    ]);
    expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        "wadi.task.ended",
        { "messaging.message.id": "b", "wadi.task.outcome": "retried", "error.type": "slow_down" },
      ],
      ["exception", { "exception.type": "Error", "exception.message": "no" }],
    ]);
  });

  test("that throws records what it threw once", async () => {
    const { worker } = openTelemetry(sdk.providers);
    for (const id of ["a", "b"]) worker.onEvent(started(id));
    const thrown = new Error("no");
    await expect(worker.around(tasks, () => Promise.reject(thrown))).rejects.toBe(thrown);
    for (const id of ["a", "b"])
      worker.onEvent({ type: "failed", ...about(id), durationMs: 1, error: error("handler_error") });
    const exceptions = sdk.span("process mail").events.filter(({ name }) => name === "exception");
    expect(exceptions).toMatchObject([{ attributes: { "exception.stacktrace": thrown.stack } }]);
  });
});

test("a handler that never comes back has its span ended by the loss of its lease", () => {
  const { worker } = openTelemetry(sdk.providers);
  worker.onEvent(started());
  void worker.around([contextOf()], () => new Promise(() => {}));
  worker.onEvent({ type: "lostLease", ...about(), durationMs: 5 });
  expect(sdk.openSpans).toBe(0);
  expect(sdk.span("process mail")).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: "lost_lease" },
    attributes: { "error.type": "lost_lease", "wadi.task.outcome": "lostLease" },
    events: [],
  });
});

test("a span takes the time of the handler, not that of its settlement", async () => {
  const { worker } = openTelemetry(sdk.providers);
  worker.onEvent(started());
  await worker.around([contextOf()], async () => null);
  const endedBy = performance.timeOrigin + performance.now() + 1;
  await new Promise((resolve) => setTimeout(resolve, 20));
  worker.onEvent(succeeded());
  const [seconds, nanos] = sdk.span("process mail").endTime;
  expect(seconds * 1000 + nanos / 1e6).toBeLessThanOrEqual(endedBy);
});

test("without the events a span says what the handler did", async () => {
  const { around } = openTelemetry(sdk.providers).worker;
  await around([contextOf()], async () => null);
  await expect(around([contextOf()], () => Promise.reject(new TypeError("no")))).rejects.toThrow("no");
  await expect(around([contextOf()], () => Promise.reject(undefined))).rejects.toBeUndefined();
  expect(sdk.spans.map(({ status, attributes }) => [status.code, attributes["error.type"]])).toEqual([
    [SpanStatusCode.UNSET, undefined],
    [SpanStatusCode.ERROR, "TypeError"],
    [SpanStatusCode.ERROR, "undefined"],
  ]);
});

test("bad options are refused", () => {
  expect(() => openTelemetry({ relation: "child" as "link" })).toThrow(
    /relation must be one of link, parent/,
  );
  expect(() => openTelemetry({ baggage: 1 as unknown as boolean })).toThrow(/baggage must be true or false/);
  expect(() => openTelemetry({ tracer: 1 } as object)).toThrow(/openTelemetry has no option "tracer"/);
  expect(() => openTelemetry({ tracerProvider: {} as never })).toThrow(/tracerProvider must be/);
  expect(() => openTelemetry({ meterProvider: {} as never })).toThrow(/meterProvider must be/);
});
