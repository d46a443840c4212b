/** The entry point `wadi/http`. */

export { createHandler, type HttpHandler } from "./handler.ts";
export type { HandlerInvocation } from "./handler-invocation.ts";
export type { HttpHandlerOptions } from "./handler-options.ts";
export { HttpError } from "./http-error.ts";
