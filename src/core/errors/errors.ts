/** Every error that Wadi throws, in one place to import from. */
export * from "./database-errors.ts";
export * from "./submit-errors.ts";
export * from "./task-errors.ts";
export {
  type ErrorCode,
  InvalidArgument,
  Unsupported,
  WadiError,
  type WadiErrorOptions,
} from "./wadi-error.ts";
export * from "./worker-errors.ts";
