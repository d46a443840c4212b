/** The spans: one for each handler call, with the trace that submitted its tasks as link or parent. */

import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  SpanKind,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Task } from "../core/task.ts";
import type { WorkerHooks } from "../worker/hooks.ts";
import { ATTRIBUTE, operationAttributes } from "./attributes.ts";
import { HandlerSpan } from "./handler-span.ts";
import { isEnd } from "./outcome.ts";
import { extract } from "./propagation.ts";

export interface SpanOptions {
  readonly tracer: Tracer;
  /** Whether the span of an attempt becomes a child of the span that submitted its task. */
  readonly asChild: boolean;
  readonly baggage: boolean;
}

const attemptKey = ({ id, attempt }: { readonly id: string; readonly attempt: number }) => `${id} ${attempt}`;

export interface Spans {
  readonly around: NonNullable<WorkerHooks["around"]>;
  readonly onEvent: NonNullable<WorkerHooks["onEvent"]>;
}

/**
 * A span for each handler call. It lasts as long as the handler runs, and has the status of the attempt, because only
 * the database knows whether a result was stored. If a handler never returns, the event of its attempt ends the span.
 */
export function newSpans({ tracer, asChild, baggage }: SpanOptions): Spans {
  /** Attempts that began, each with the span of its call once there is one. */
  const attempts = new Map<string, HandlerSpan | null>();

  /** The parent context of the span of these tasks, and its links. */
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

  function begin(tasks: readonly Task[]): { call: HandlerSpan; within: Context } {
    const { parent, links } = origin(tasks);
    const attributes = { ...operationAttributes("process", tasks[0]!), ...taskAttributes(tasks) };
    const span = tracer.startSpan(
      `process ${tasks[0]!.name}`,
      { kind: SpanKind.CONSUMER, attributes, links },
      parent,
    );
    const keys = tasks.map(attemptKey);
    // If the starts of these attempts were not reported to this tracer, their ends will not be reported either.
    const open = keys.every((key) => attempts.has(key)) ? keys.length : 0;
    const call = new HandlerSpan(span, tasks.length > 1, open);
    if (open > 0) for (const key of keys) attempts.set(key, call);
    return { call, within: trace.setSpan(parent, span) };
  }

  return {
    async around(contexts, run) {
      const { call, within } = begin(contexts.map(({ task }) => task));
      try {
        return await context.with(within, run);
      } catch (error) {
        call.handlerThrew(error);
        throw error;
      } finally {
        call.handlerEnded();
      }
    },
    onEvent(event) {
      if (event.type === "started") attempts.set(attemptKey(event), null);
      else if (isEnd(event)) {
        const key = attemptKey(event);
        attempts.get(key)?.attemptEnded(event);
        attempts.delete(key);
      }
    },
  };
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
