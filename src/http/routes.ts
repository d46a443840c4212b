/** The meaning of a path: the operation, and the task it is about. */
export interface Route {
  readonly operation: "submit" | "get" | "wait" | "drain";
  readonly methods: readonly string[];
  /** Names of the query parameters it takes. */
  readonly query: readonly string[];
  /** The id or key in the path, still percent-encoded. If a route has none, the query names the task. */
  readonly part?: { readonly by: "id" | "key"; readonly encoded: string };
}

const READ = ["GET", "HEAD"];

const FIXED: Readonly<Record<string, Route>> = {
  "/tasks": { operation: "submit", methods: ["POST"], query: [] },
  // No HEAD: a client that asks for headers only does not expect tasks to run.
  "/drain": { operation: "drain", methods: ["GET", "POST"], query: [] },
  "/keys": { operation: "get", methods: READ, query: ["key"] },
  "/wait": { operation: "wait", methods: READ, query: ["id", "key", "timeoutMs"] },
};

/** The route of a path below the base path, null if there is none. */
export function matchRoute(path: string): Route | null {
  if (Object.hasOwn(FIXED, path)) return FIXED[path]!;
  // An empty id or key matches: its error as an argument says more than "no such route".
  const match = /^\/(tasks|keys)\/([^/]*)(\/wait)?$/.exec(path);
  if (match === null) return null;
  return {
    ...(match[3] === undefined
      ? { operation: "get", query: [] }
      : { operation: "wait", query: ["timeoutMs"] }),
    methods: READ,
    part: { by: match[1] === "tasks" ? "id" : "key", encoded: match[2]! },
  };
}
