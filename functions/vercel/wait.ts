import { answer } from "./handler.ts";

/** Longer than the longest wait. */
export const maxDuration = 30;

/** `GET /api/wait?key=` or `?id=`, and `&timeoutMs=`: the handler's `/keys/:key/wait` and `/tasks/:id/wait`. */
export function GET(request: Request): Promise<Response> {
  const { searchParams: query } = new URL(request.url);
  const id = query.get("id");
  const ref = id === null ? ["keys", query.get("key") ?? ""] : ["tasks", id];
  query.delete("id");
  query.delete("key");
  return answer(request, `/${ref.map(encodeURIComponent).join("/")}/wait`, query);
}
