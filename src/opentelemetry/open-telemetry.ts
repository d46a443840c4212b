/** The entry point of the OpenTelemetry integration. */

import { type MeterProvider, type TracerProvider, trace } from "@opentelemetry/api";
import { InvalidArgument } from "../core/errors/errors.ts";
import type { Json } from "../core/task.ts";
import { oneOf, onlyKnown, show } from "../core/validate.ts";
import type { WorkerHooks } from "../worker/hooks.ts";
import { newSpans } from "./handler-spans.ts";
import { newMetrics } from "./metrics.ts";
import { inject } from "./propagation.ts";

/** Where spans and metrics go, and how they are linked. */
export interface OpenTelemetryOptions {
  /** Makes the tracer of the spans. @default the global one */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the meter of the metrics. @default the global one */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * How the span of an attempt relates to the trace that submitted its task. `link`: it starts another trace, or joins
   * that of the request that drains, and links to the submit. `parent`: it is a child of the submit. A batch always
   * links to each of its tasks. @default "link"
   */
  readonly relation?: "link" | "parent" | undefined;
  /** Whether the baggage of the submitting context is passed to the handler, in the task's metadata. @default false */
  readonly baggage?: boolean | undefined;
}

const OPTIONS = Object.keys({
  tracerProvider: true,
  meterProvider: true,
  relation: true,
  baggage: true,
} satisfies Record<keyof OpenTelemetryOptions, true>);

/** Options to spread into those of `new Wadi` and `new Worker`. */
export interface OpenTelemetry {
  /** Options of `new Wadi`. */
  readonly producer: {
    readonly metadata: (task: { readonly name: string; readonly queue: string }) => Record<string, Json>;
  };
  /** Options of `new Worker`. */
  readonly worker: {
    readonly around: NonNullable<WorkerHooks["around"]>;
    readonly onEvent: NonNullable<WorkerHooks["onEvent"]>;
  };
}

/**
 * Traces and measures tasks with the OpenTelemetry API: a span for each handler call, linked to the trace that
 * submitted its tasks, and the metrics of the messaging conventions. It does nothing unless an SDK is registered.
 *
 * @throws {InvalidArgument} if an option is unknown or of the wrong type.
 * @example
 * ```ts
 * import { Wadi, Worker } from "wadi";
 * import { openTelemetry } from "wadi/opentelemetry";
 *
 * const telemetry = openTelemetry();
 * const wadi = new Wadi(executor, { ...telemetry.producer });
 * const worker = new Worker(wadi, { ...telemetry.worker });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  onlyKnown("openTelemetry", options, OPTIONS);
  const { tracerProvider, meterProvider, relation = "link", baggage = false } = options;
  oneOf("relation", relation, ["link", "parent"]);
  if (typeof baggage !== "boolean")
    throw new InvalidArgument(`baggage must be true or false, got ${show(baggage)}`);
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== "function")
    throw new InvalidArgument("tracerProvider must be a TracerProvider of @opentelemetry/api");
  if (meterProvider !== undefined && typeof meterProvider?.getMeter !== "function")
    throw new InvalidArgument("meterProvider must be a MeterProvider of @opentelemetry/api");
  const metrics = newMetrics(meterProvider);
  const tracer = (tracerProvider ?? trace).getTracer("wadi");
  const spans = newSpans({ tracer, asChild: relation === "parent", baggage });
  return {
    producer: {
      metadata(task) {
        metrics.submitted(task);
        return inject(baggage);
      },
    },
    worker: {
      around: spans.around,
      onEvent(event) {
        metrics.onEvent(event);
        spans.onEvent(event);
      },
    },
  };
}
