/** The scope of a client and of its database: how a `Wadi` takes over, or clears, the copy of a database. */
import { type CompleteChecks, checkOptions, integerFrom } from "../core/check-options.ts";
import { InvalidArgument, ScopeMismatch } from "../core/errors/errors.ts";
import type { MigrateOptions } from "../core/migrations/migrate.ts";
import { adoptScope, clearPage, storeScope } from "../core/operations/scope.ts";
import type { OperationOptions } from "../core/session/operation-options.ts";
import type { Session } from "../core/session/session.ts";
import { show } from "../core/validate.ts";
import { type CallOptions, directCall } from "./call-options.ts";
import type { ClearOptions, ClearResult } from "./database-controls.ts";

const CLEAR = { pageSize: integerFrom(1, 100_000, 1000) } satisfies CompleteChecks<ClearOptions>;

/** Scopes are part of error texts of databases, from which they are read. */
const SCOPE = /^[\w.-]{1,64}$/;

/** The scope of a client: what the option says, else the environment that Vercel names. */
export function checkScope(scope: unknown): string | null {
  if (scope === undefined) return vercelEnvironment();
  if (typeof scope === "string" && SCOPE.test(scope)) return scope;
  const found = typeof scope === "string" ? `a text of ${scope.length} characters` : show(scope);
  throw new InvalidArgument(
    `scope must be 1 to 64 letters, digits, "-", "_" or ".", such as "production", got ${found}`,
  );
}

/** `production`, `preview`, `development`, or the name of a custom environment; null elsewhere. */
function vercelEnvironment(): string | null {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  const name = env?.VERCEL_TARGET_ENV || env?.VERCEL_ENV;
  return name !== undefined && SCOPE.test(name) ? name : null;
}

/** Applies missing migrations, and stores the scope of the client, if it has one, where the database has none. */
export async function migrateAndStoreScope(
  session: Session,
  options?: MigrateOptions,
  call?: OperationOptions,
): Promise<void> {
  await session.migrate(options, call);
  if (session.target.scope !== null) await session.execute(storeScope(session.target), call);
}

/** @throws {InvalidArgument} if the client has no scope. */
export async function adopt(session: Session, call?: CallOptions): Promise<void> {
  requireScope("adopt", session);
  return session.execute(adoptScope(session.target), directCall("adopt", call));
}

/** @throws {InvalidArgument} if the client has no scope. @throws {ScopeMismatch} if the database has none. */
export async function clear(
  session: Session,
  options?: ClearOptions,
  call?: CallOptions,
): Promise<ClearResult> {
  const { pageSize } = checkOptions("clear", options, CLEAR);
  const scope = requireScope("clear", session);
  const checked = directCall("clear", call);
  for (let deleted = 0; ; ) {
    const page = await session.execute(clearPage(session.target, pageSize), checked);
    deleted += page.deleted;
    if (page.scope === scope) return { deleted };
    if (page.scope === null) throw new ScopeMismatch(scope, null);
  }
}

function requireScope(method: string, { target: { scope } }: Session): string {
  if (scope !== null) return scope;
  throw new InvalidArgument(
    `${method} takes the database over for the scope of this client, which has none; pass the environment it runs ` +
      'in, such as new Wadi(executor, { scope: "preview" })',
  );
}
