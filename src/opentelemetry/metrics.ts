/** The metrics: tasks submitted, consumed and recovered, attempts by outcome, and two durations. */

import {
  type Attributes,
  metrics as api,
  type Counter,
  type Histogram,
  type MeterProvider,
} from "@opentelemetry/api";
import type { WorkerEvent } from "../worker/hooks.ts";
import { ATTRIBUTE, operationAttributes } from "./attributes.ts";
import { type Ended, failureOf } from "./outcome.ts";

/** Bucket boundaries of the conventions, in seconds. */
const RUN_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Longer boundaries, because tasks wait in a queue for longer than a handler runs. */
const QUEUED_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

interface Instruments {
  readonly sent: Counter;
  readonly consumed: Counter;
  readonly attempts: Counter;
  readonly recovered: Counter;
  readonly duration: Histogram;
  readonly queued: Histogram;
}

function instruments(provider: MeterProvider): Instruments {
  const meter = provider.getMeter("wadi");
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(name, { unit, description });
  const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit: "s", description, advice: { explicitBucketBoundaries } });
  return {
    sent: counter("messaging.client.sent.messages", "{message}", "Tasks that were submitted"),
    consumed: counter(
      "messaging.client.consumed.messages",
      "{message}",
      "Tasks that were handed to a handler",
    ),
    attempts: counter("wadi.task.attempts", "{attempt}", "Attempts by how they ended"),
    recovered: counter("wadi.task.recovered", "{task}", "Tasks whose lease expired"),
    duration: seconds(
      "messaging.process.duration",
      "From the start of the handler to the end of the attempt",
      RUN_SECONDS,
    ),
    queued: seconds("wadi.task.queue_time", "From the due time of a task to its claim", QUEUED_SECONDS),
  };
}

export interface Metrics {
  submitted(task: { readonly queue: string; readonly name: string }): void;
  onEvent(event: WorkerEvent): void;
}

/** Counts and measures the events of the hooks. */
export function newMetrics(provider: MeterProvider | undefined): Metrics {
  let made: Instruments | undefined;
  // Created at the first use: the SDK may be registered after this module is loaded, and the API proxies no meters.
  const use = () => (made ??= instruments(provider ?? api.getMeterProvider()));

  function ended(event: Ended): void {
    const failure = failureOf(event);
    const attributes: Attributes = operationAttributes("process", event);
    if (failure !== null) attributes[ATTRIBUTE.errorType] = failure;
    use().attempts.add(1, { ...attributes, [ATTRIBUTE.outcome]: event.type });
    // A task that was released or lost before it had a slot was not processed.
    const ran =
      event.durationMs > 0 ||
      event.type === "succeeded" ||
      event.type === "failed" ||
      event.type === "retried";
    if (ran) use().duration.record(event.durationMs / 1000, attributes);
  }

  return {
    submitted: (task) => use().sent.add(1, operationAttributes("send", task)),
    onEvent(event) {
      if (event.type === "drained") return;
      const attributes = operationAttributes("process", event);
      if (event.type === "claimed") use().queued.record(event.queuedMs / 1000, attributes);
      else if (event.type === "started") use().consumed.add(1, attributes);
      else if (event.type === "recovered")
        use().recovered.add(1, { ...attributes, "wadi.task.status": event.status });
      else ended(event);
    },
  };
}
