export {
  createHandler,
  type HandlerInvocation,
  type HttpHandler,
  type HttpHandlerOptions,
} from "./handler.ts";
export { HttpError } from "./http-error.ts";
