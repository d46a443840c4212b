import { answer } from "./handler.ts";

/** Longer than the longest wait. */
export const maxDuration = 30;

/** `GET /api/wait?key=` or `?id=`, and `&timeoutMs=`: the handler's `GET /wait`. */
export function GET(request: Request): Promise<Response> {
  return answer(request, "/wait");
}
