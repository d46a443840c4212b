/** The entry point `wadi/http`. */

export { createHandler, type HandlerInvocation, type HttpHandler } from "./handler.ts";
export type { HttpHandlerOptions } from "./handler-options.ts";
export { HttpError } from "./http-error.ts";
