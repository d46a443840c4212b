/** What a path means: the operation, and the parts of the path it needs, still percent-encoded. */
export interface Route {
  readonly operation: "submit" | "get" | "wait" | "drain";
  readonly methods: readonly string[];
  /** Names of the query parameters it takes. */
  readonly query: readonly string[];
  readonly by?: "id" | "key";
  readonly encoded?: string;
}

const READ = ["GET", "HEAD"];

/** The route of a path below the base path, null if there is none. */
export function matchRoute(path: string): Route | null {
  if (path === "/tasks") return { operation: "submit", methods: ["POST"], query: [] };
  // Not HEAD: whoever asks for headers only does not expect tasks to run.
  if (path === "/drain") return { operation: "drain", methods: ["GET", "POST"], query: [] };
  // An empty id or key is a wrong argument, which says more than "no such route".
  const match = /^\/(tasks|keys)\/([^/]*)(\/wait)?$/.exec(path);
  if (match === null) return null;
  return {
    ...(match[3] === undefined
      ? { operation: "get", query: [] }
      : { operation: "wait", query: ["timeoutMs"] }),
    methods: READ,
    by: match[1] === "tasks" ? "id" : "key",
    encoded: match[2]!,
  };
}
