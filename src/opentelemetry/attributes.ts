import type { Attributes } from "@opentelemetry/api";

/** Names of the messaging semantic conventions, and what they lack under names of our own. */
export const ATTRIBUTE = {
  batchCount: "messaging.batch.message_count",
  conversationId: "messaging.message.conversation_id",
  messageId: "messaging.message.id",
  errorType: "error.type",
  attempt: "wadi.task.attempt",
  maxAttempts: "wadi.task.max_attempts",
  outcome: "wadi.task.outcome",
} as const;

/** What every span and metric of one kind of operation carries; all of it is of low cardinality. */
export function operationAttributes(
  operation: "process" | "send",
  { queue, name }: { readonly queue: string; readonly name: string },
): Attributes {
  return {
    "messaging.system": "wadi",
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
    "messaging.destination.name": queue,
    "wadi.task.name": name,
  };
}
