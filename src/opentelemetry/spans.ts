import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { ErrorEnvelope, Task } from "../core/task.ts";
import type { WorkerHooks } from "../worker/hooks.ts";
import { ATTRIBUTE, operationAttributes } from "./attributes.ts";
import { type Ended, failureOf, isEnd } from "./outcome.ts";
import { extract } from "./propagation.ts";

export interface SpanOptions {
  readonly tracer: Tracer;
  /** Whether the span of an attempt becomes a child of the span that submitted its task. */
  readonly asChild: boolean;
  readonly baggage: boolean;
}

/** One handler call, for one task or a batch of them. */
interface Call {
  readonly span: Span;
  readonly tasks: readonly Task[];
  /** Attempts whose end will be told and has not been yet. */
  open: number;
  thrown?: unknown;
  hasFailed?: true;
  /** When the handler came back, on the clock of `performance.now()`. */
  endedAt?: number;
}

const attemptKey = ({ id, attempt }: { readonly id: string; readonly attempt: number }) => `${id} ${attempt}`;

export interface Spans {
  readonly around: NonNullable<WorkerHooks["around"]>;
  readonly onEvent: NonNullable<WorkerHooks["onEvent"]>;
}

/**
 * A span for each handler call. It takes the time of the handler, and its status from what became of the attempt: only the
 * database knows whether a result was stored. A handler that never comes back has its span ended by the event.
 */
export function newSpans({ tracer, asChild, baggage }: SpanOptions): Spans {
  /** Attempts that began, with their call once there is one. */
  const attempts = new Map<string, Call | null>();

  /** Where the span of these tasks hangs, and what it is linked to. */
  function origin(tasks: readonly Task[]): { parent: Context; links: Link[] } {
    const submitted = tasks.map((task) => extract(task, baggage));
    const links = submitted.flatMap((from, i): Link[] => {
      const spanContext = trace.getSpanContext(from);
      if (spanContext === undefined) return [];
      return [{ context: spanContext, attributes: { [ATTRIBUTE.messageId]: tasks[i]!.id } }];
    });
    let parent = context.active();
    if (tasks.length > 1) return { parent, links }; // a span has one parent
    const carried = propagation.getBaggage(submitted[0]!);
    if (carried !== undefined) parent = propagation.setBaggage(parent, carried);
    if (!asChild || links.length === 0) return { parent, links };
    return { parent: trace.setSpanContext(parent, links[0]!.context), links: [] };
  }

  function begin(tasks: readonly Task[]): { call: Call; within: Context } {
    const { parent, links } = origin(tasks);
    const attributes = { ...operationAttributes("process", tasks[0]!), ...taskAttributes(tasks) };
    const span = tracer.startSpan(
      `process ${tasks[0]!.name}`,
      { kind: SpanKind.CONSUMER, attributes, links },
      parent,
    );
    const keys = tasks.map(attemptKey);
    // Nobody tells this tracer how attempts end, if it was not told how they began.
    const open = keys.every((key) => attempts.has(key)) ? keys.length : 0;
    const call: Call = { span, tasks, open };
    if (open > 0) for (const key of keys) attempts.set(key, call);
    return { call, within: trace.setSpan(parent, span) };
  }

  function handlerEnded(call: Call): void {
    call.endedAt = performance.now();
    if (call.open > 0) return;
    const { thrown } = call;
    if ("thrown" in call) fail(call, thrown instanceof Error ? thrown.name : typeof thrown);
    call.span.end(call.endedAt);
  }

  function attemptEnded(event: Ended): void {
    const key = attemptKey(event);
    const call = attempts.get(key);
    attempts.delete(key);
    if (!call) return;
    const failure = failureOf(event);
    const outcome = { [ATTRIBUTE.outcome]: event.type };
    if (call.tasks.length === 1) call.span.setAttributes(outcome);
    else if (event.type !== "succeeded") {
      const about = { [ATTRIBUTE.messageId]: event.id, ...outcome };
      call.span.addEvent(
        "wadi.task.ended",
        failure === null ? about : { ...about, [ATTRIBUTE.errorType]: failure },
      );
    }
    if (failure !== null)
      fail(call, failure, event.type === "failed" || event.type === "retried" ? event.error : undefined);
    if (--call.open === 0) call.span.end(call.endedAt);
  }

  return {
    async around(contexts, run) {
      const { call, within } = begin(contexts.map(({ task }) => task));
      try {
        return await context.with(within, run);
      } catch (error) {
        call.thrown = error;
        throw error;
      } finally {
        handlerEnded(call);
      }
    },
    onEvent(event) {
      if (event.type === "started") attempts.set(attemptKey(event), null);
      else if (isEnd(event)) attemptEnded(event);
    },
  };
}

/** Marks the span as failed, once: what fails a batch fails all of its tasks. */
function fail(call: Call, errorType: string, stored?: ErrorEnvelope): void {
  if (call.hasFailed) return;
  call.hasFailed = true;
  const { span, thrown } = call;
  span.setAttribute(ATTRIBUTE.errorType, errorType);
  const isTold = stored === undefined || (thrown instanceof Error && thrown.name === stored.type);
  if (isTold && thrown instanceof Error)
    span.recordException(thrown); // it has the stack
  else if (stored !== undefined) span.recordException({ name: stored.type, message: stored.message });
  const message = stored?.message ?? (thrown instanceof Error ? thrown.message : errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function taskAttributes(tasks: readonly Task[]): Attributes {
  if (tasks.length > 1) return { [ATTRIBUTE.batchCount]: tasks.length };
  const { id, attempt, maxAttempts, correlationId } = tasks[0]!;
  return {
    [ATTRIBUTE.messageId]: id,
    [ATTRIBUTE.attempt]: attempt,
    [ATTRIBUTE.maxAttempts]: maxAttempts,
    ...(correlationId !== null && { [ATTRIBUTE.conversationId]: correlationId }),
  };
}
