/** The names of attributes on spans and metrics. */

import type { Attributes } from "@opentelemetry/api";

/** Names of the messaging semantic conventions, and Wadi's names for everything that they lack. */
export const ATTRIBUTE = {
  batchCount: "messaging.batch.message_count",
  conversationId: "messaging.message.conversation_id",
  messageId: "messaging.message.id",
  errorType: "error.type",
  attempt: "wadi.task.attempt",
  maxAttempts: "wadi.task.max_attempts",
  outcome: "wadi.task.outcome",
} as const;

/** The attributes of every span and metric of one kind of operation. All of them have a low cardinality. */
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
