/** Carries the context of a submit to the handler, in the metadata of the task. */

import { type Context, context, propagation, ROOT_CONTEXT } from "@opentelemetry/api";
import type { Json, Task } from "../core/task.ts";

/** Any producer may write metadata: values that are not strings are ignored. */
const metadataGetter = {
  keys: (metadata: Task["metadata"]) => Object.keys(metadata),
  get(metadata: Task["metadata"], key: string): string | undefined {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return typeof value === "string" ? value : undefined;
  },
};

/** The active context as metadata: `traceparent` and `tracestate` if the W3C propagator is registered. */
export function inject(baggage: boolean): Record<string, Json> {
  const carrier: Record<string, Json> = {};
  const active = context.active();
  propagation.inject(baggage ? active : propagation.deleteBaggage(active), carrier);
  return carrier;
}

/** The context in which a task was submitted. */
export function extract({ metadata }: Task, baggage: boolean): Context {
  const submitted = propagation.extract(ROOT_CONTEXT, metadata, metadataGetter);
  return baggage ? submitted : propagation.deleteBaggage(submitted);
}
