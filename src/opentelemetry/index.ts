/** The entry point `wadi/opentelemetry`. */

export { type OpenTelemetry, type OpenTelemetryOptions, openTelemetry } from "./open-telemetry.ts";
