import { type Attributes, context, propagation, type TextMapPropagator } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type Span,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** A process's SDK: what it exports, and which spans have begun. */
export class Sdk {
  readonly #exporter = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metrics,
    exportIntervalMillis: 3_600_000,
  });
  readonly #begun = new BeginCounter();
  readonly tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#exporter), this.#begun],
  });
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] });

  /** What goes into `openTelemetry`. */
  get providers() {
    return { tracerProvider: this.tracerProvider, meterProvider: this.meterProvider };
  }

  /** Spans that have ended, in that order. */
  get spans(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** Spans that have begun and not ended. */
  get openSpans(): number {
    return this.#begun.count - this.spans.length;
  }

  /** Runs `work` within a span of this name and returns the span with what came out. */
  async inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    const tracer = this.tracerProvider.getTracer("test");
    return tracer.startActiveSpan(name, async (span) => {
      try {
        return await work();
      } finally {
        span.end();
      }
    });
  }

  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans are named "${name}"`);
    return found[0]!;
  }

  /** Points of a metric: their attributes and values; of a histogram how many were recorded, and their sum. */
  async points(
    metric: string,
  ): Promise<
    { readonly attributes: Attributes; readonly value: number; readonly sum?: number | undefined }[]
  > {
    await this.#reader.forceFlush();
    const last = this.#metrics.getMetrics().at(-1);
    const found = last?.scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .find((m) => m.descriptor.name === metric);
    return (found?.dataPoints ?? []).map(
      (point: DataPoint<number> | DataPoint<Histogram> | DataPoint<unknown>) => {
        const { value, attributes } = point;
        if (typeof value === "number") return { attributes, value };
        const { count, sum } = value as Histogram;
        return { attributes, value: count, sum };
      },
    );
  }

  async shutdown(): Promise<void> {
    await this.tracerProvider.shutdown();
    await this.meterProvider.shutdown();
  }
}

class BeginCounter implements SpanProcessor {
  count = 0;
  onStart(_span: Span): void {
    this.count++;
  }
  onEnd(): void {}
  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

/** Registers what is global to a process: how contexts follow calls, and how they travel. */
export function registerGlobals(): () => void {
  const propagators: TextMapPropagator[] = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
  return () => {
    context.disable();
    propagation.disable();
  };
}
