import type { Dialect } from "../src/core/executor.ts";
import type { Target, TargetName } from "./target.ts";

/** Every database the suites run on. Its client is loaded when the target is opened. */
export const targets: readonly Target[] = [
  lazy(
    "better-sqlite3-file",
    "sqlite",
    async () => (await import("./targets/better-sqlite3.ts")).betterSqlite3File,
  ),
  lazy(
    "better-sqlite3-memory",
    "sqlite",
    async () => (await import("./targets/better-sqlite3.ts")).betterSqlite3Memory,
  ),
  lazy("libsql-file", "sqlite", async () => (await import("./targets/libsql.ts")).libsqlFile),
  lazy("libsql-http", "sqlite", async () => (await import("./targets/libsql.ts")).libsqlHttp),
  lazy("d1", "sqlite", async () => (await import("./targets/d1.ts")).d1),
  lazy("durable-object", "sqlite", async () => (await import("./targets/durable-object.ts")).durableObject),
  lazy("pg", "postgres", async () => (await import("./targets/pg.ts")).pg),
  lazy("neon-http", "postgres", async () => (await import("./targets/neon-http.ts")).neonHttp),
  lazy("pglite", "postgres", async () => (await import("./targets/pglite.ts")).pglite),
];

/** The targets of these names, or all. Throws for a name there is no target of. */
export function pickTargets(names?: readonly string[]): Target[] {
  if (names === undefined) return [...targets];
  return names.map((name) => {
    const target = targets.find((candidate) => candidate.name === name);
    if (target !== undefined) return target;
    throw new Error(`no target "${name}"; there are ${targets.map((known) => known.name).join(", ")}`);
  });
}

function lazy(name: TargetName, dialect: Dialect, load: () => Promise<Target>): Target {
  return { name, dialect, open: async () => (await load()).open() };
}
