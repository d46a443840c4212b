// The session of a client with its database: deadlines of operations, missing migrations, and requests sent again.

import { backoffDelay } from "../backoff.ts";
import { optionalFunction } from "../check-options.ts";
import { type DriverError, WadiError } from "../errors/errors.ts";
import type { ErrorClass, Executor, Row, Statement } from "../executor.ts";
import { NEVER } from "../infinity.ts";
import { type MigrateOptions, migrate } from "../migrations/migrate.ts";
import { explainVersion, isGuarded, otherVersion } from "../migrations/protocol-version.ts";
import { monotonicMs } from "../monotonic-clock.ts";
import { type Operation, type SqlTarget, single } from "../operations/operation.ts";
import { isUnscoped, otherScope, storeScope } from "../operations/scope.ts";
import { bind } from "../operations/statement.ts";
import { sleep } from "../timers.ts";
import { driverError, isTransient, lateError, mayBeGuard } from "./failure.ts";
import { meteredExecutor } from "./metered-executor.ts";
import { type Deadline, deadlineOf, type OperationOptions } from "./operation-options.ts";
import type { QueryMeter } from "./query-meter.ts";
import { RequestAbort } from "./request-abort.ts";
import { checkRetryOptions, type RetryPolicy } from "./retry-options.ts";
import { SharedMigration } from "./shared-migration.ts";
import { untilDeadline } from "./until-deadline.ts";

/** How long an operation lasts at most if the caller sets no deadline. */
const OPERATION_MS = 30_000;
/** The same for a migration, which may build indexes. */
const MIGRATION_MS = 600_000;

/** Executors whose database was seen with all migrations. On an edge runtime every request has its own session. */
const migrated = new WeakSet<Executor>();

export interface SessionOptions {
  /**
   * How an operation is sent again when the database is busy, unreachable, or did not answer.
   * @default { tries: 6, baseMs: 50, capMs: 1000 }
   */
  readonly requestRetry?: Partial<RetryPolicy> | undefined;
  /** Replaces the clock of the database, in epoch milliseconds. For tests only. */
  readonly clock?: (() => number) | undefined;
  /** The environment of the client. @default none */
  readonly scope?: string | null | undefined;
}

/** Sends operations through one executor, applies missing migrations, and sends again what may be sent again. */
export class Session {
  readonly executor: Executor;
  readonly #retry: RetryPolicy;
  readonly #clock: (() => number) | undefined;
  readonly #scope: string | null;
  readonly #migration = new SharedMigration();
  /** Whether the database has answered a guarded request, and so speaks this protocol version. */
  #isVerified = false;

  /** @throws {InvalidArgument} if a number of the retry policy is out of range. */
  constructor(executor: Executor, { requestRetry, clock, scope = null }: SessionOptions = {}) {
    optionalFunction("clock", clock);
    this.executor = executor;
    this.#retry = checkRetryOptions(requestRetry);
    this.#clock = clock;
    this.#scope = scope;
  }

  /** What an operation is built for. Its time is the present one, so take a new target for each operation. */
  get target(): SqlTarget {
    const { dialect, protocol, limits } = this.executor;
    const nowMs = this.#clock === undefined ? null : this.#clock();
    return { dialect, protocol, limits, nowMs, scope: this.#scope };
  }

  async execute<T>(operation: Operation<T>, call: OperationOptions = {}): Promise<T> {
    let current = operation;
    let hasMigrated = false;
    let hasStoredScope = false;
    const deadline = deadlineOf(call, OPERATION_MS);
    for (let tries = 1; ; tries++) {
      call.signal?.throwIfAborted();
      let results: readonly Row[][];
      try {
        const abort = new RequestAbort(current.mayBeLost, call.openTransaction);
        results = await this.#until(deadline, operation.name, this.#send(current, abort, call.meter), abort);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (WadiError.is(error)) throw error;
        const answer = otherVersion(error) ?? otherScope(error, this.#scope) ?? current.explain?.(error);
        if (answer !== undefined) throw answer;
        if (isUnscoped(error) && !hasStoredScope) {
          hasStoredScope = true; // the first work of production in this database
          await this.execute(storeScope(this.target), call);
          continue;
        }
        const kind = this.executor.classify(error);
        if (kind === "missing-schema" && !hasMigrated) {
          hasMigrated = true;
          await this.#migrateOnce(deadline, operation.name, call.meter);
          continue;
        }
        if (mayBeGuard(kind) && !this.#isVerified) await this.#checkVersion(operation.name, deadline, call);
        const delay = backoffDelay(this.#retry, tries);
        const isLate = monotonicMs() + delay >= deadline.endsAtMs;
        if (isLate || tries >= this.#retry.tries || !isTransient(kind, this.#isVerified)) {
          throw this.driverError(operation.name, kind, error);
        }
        if (kind === "unknown") current = operation.resend?.() ?? operation;
        await sleep(delay, call.signal);
        continue;
      }
      return current.decode(results);
    }
  }

  /** The result of something made of several operations, unless the caller's signal or deadline comes first. */
  untilDeadline<T>(name: string, result: Promise<T>, call: OperationOptions): Promise<T> {
    return this.#until(deadlineOf(call, NEVER), name, result);
  }

  #until<T>(deadline: Deadline, name: string, answer: Promise<T>, abort?: RequestAbort): Promise<T> {
    return untilDeadline(answer, deadline, () => lateError(name, this.executor.name), abort);
  }

  /**
   * @throws {ProtocolVersionMismatch} if that is why a request was refused. Any other failure is left to the caller.
   */
  async #checkVersion(name: string, deadline: Deadline, { meter }: OperationOptions): Promise<void> {
    const abort = new RequestAbort();
    const explained = explainVersion(meteredExecutor(this.executor, abort, meter));
    await this.#until(deadline, name, explained, abort).catch((reason: unknown) => {
      // A request that was refused for another reason, such as a wrong password, is refused here too.
      if (WadiError.is(reason)) throw reason;
    });
  }

  /** Migrates once for each executor, if anything is missing: for statements that the application sends by itself. */
  async ensureMigrated(): Promise<void> {
    if (migrated.has(this.executor)) return;
    const select = bind(this.executor, "select_migrations", {});
    const applied = await this.execute(single("migrate", select, (rows) => rows.map((row) => row.name)));
    if (!this.executor.protocol.migrations.every(({ name }) => applied.includes(name))) await this.migrate();
    migrated.add(this.executor);
  }

  /** Applies the migrations that are missing. Calls in flight share one run. */
  migrate(options?: MigrateOptions, call: OperationOptions = {}): Promise<void> {
    const deadline = deadlineOf(call, MIGRATION_MS);
    if (options === undefined) return this.#migrateOnce(deadline, "migrate");
    // A run in flight may have other options.
    const abort = new RequestAbort();
    return this.#until(deadline, "migrate", this.#applyMigrations(abort, options), abort);
  }

  #migrateOnce(deadline: Deadline, name: string, meter?: QueryMeter): Promise<void> {
    return this.#migration.join(
      (abort) => this.#applyMigrations(abort, undefined, meter),
      (done) => this.#until(deadline, name, done),
    );
  }

  async #applyMigrations(abort: RequestAbort, options?: MigrateOptions, meter?: QueryMeter): Promise<void> {
    try {
      await migrate(meteredExecutor(this.executor, abort, meter), options);
    } catch (error) {
      throw WadiError.is(error) ? error : this.driverError("migrate", this.executor.classify(error), error);
    }
  }

  async #send(
    { statements, send, sendsMore = 0 }: Operation<unknown>,
    options: RequestAbort,
    meter?: QueryMeter,
  ): Promise<readonly Row[][]> {
    const { executor } = this;
    const guard = this.versionGuard(statements);
    const guarded = guard.length === 0 ? statements : [...guard, ...statements];
    meter?.count(guarded.length + sendsMore);
    if (guarded.length === 1 && this.#isVerified && !send) return [await executor.run(guarded[0]!, options)];
    const results = await (send === undefined
      ? executor.batch(guarded, options)
      : send(executor, guarded, options));
    this.#isVerified = true;
    return guard.length === 0 ? results : results.slice(1);
  }

  /**
   * The statement that must precede these, so that a database of a newer protocol version refuses them: statements that
   * write contain it, and the first request of a session needs it too.
   */
  versionGuard(statements: readonly Statement[]): Statement[] {
    return this.#isVerified || statements.some(isGuarded) ? [] : [bind(this.executor, "guard_version", {})];
  }

  /** The error that a caller gets for an error of the database or its client. */
  driverError(operation: string, kind: ErrorClass, cause: unknown, advice?: string): DriverError {
    return driverError(operation, this.executor.name, kind, cause, this.#isVerified, advice);
  }
}
