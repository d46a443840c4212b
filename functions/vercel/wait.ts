import { answer } from "./handler.ts";

/** Longer than the longest wait. */
export const maxDuration = 30;

/** `GET /api/wait?key=` or `?id=`, and `&timeoutMs=`: the handler's `/keys/:key/wait` and `/tasks/:id/wait`. */
export function GET(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const id = searchParams.get("id");
  const timeoutMs = searchParams.get("timeoutMs");
  const ref = id === null ? ["keys", searchParams.get("key") ?? ""] : ["tasks", id];
  const query = timeoutMs === null ? "" : `?timeoutMs=${encodeURIComponent(timeoutMs)}`;
  return answer(request, `/${ref.map(encodeURIComponent).join("/")}/wait${query}`);
}
