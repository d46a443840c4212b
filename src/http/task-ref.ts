import { InvalidArgument } from "../core/errors/errors.ts";
import type { TaskRef } from "../core/operations/read.ts";
import type { Route } from "./routes.ts";

/**
 * The task that a path or a query names. A URL drops the path segments "." and "..", even if they are encoded, and the
 * remaining path may be that of another route. Such paths are refused; the query accepts every key.
 *
 * @throws {InvalidArgument} if the request names no task, two, or one that the path cannot name.
 */
export function taskRef({ part }: Route, url: string): TaskRef {
  if (part === undefined) return fromQuery(new URL(url).searchParams);
  const { by, encoded } = part;
  const other = by === "key" ? "/keys?key= or /wait?key=" : "/wait?id=";
  if (encoded === "" || encoded === "wait") {
    throw new InvalidArgument(`the ${by}s "", "wait", "." and ".." cannot be in a path; use ${other}`);
  }
  let value: string;
  try {
    value = decodeURIComponent(encoded);
  } catch {
    throw new InvalidArgument(`the ${by} in the path is not valid percent-encoding; use encodeURIComponent`);
  }
  return by === "id" ? { id: value } : { key: value };
}

function fromQuery(query: URLSearchParams): TaskRef {
  const id = query.get("id");
  const key = query.get("key");
  if (id !== null && key === null) return { id };
  if (key !== null && id === null) return { key };
  const found = id === null ? "neither" : "both";
  throw new InvalidArgument(`the query must name the task by id or by key, got ${found}`);
}
