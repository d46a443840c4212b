/** Drizzle's definitions of Wadi's tables on Postgres, for queries and joins. */

import { sql } from "drizzle-orm";
import {
  bigint,
  customType,
  doublePrecision,
  index,
  integer,
  type PgTableFn,
  pgSchema,
  pgTable,
  primaryKey,
  text,
} from "drizzle-orm/pg-core";
import type { ErrorEnvelope, Json } from "../core/task.ts";

/**
 * JSON that the client has already parsed. Drizzle's `jsonb` would parse strings a second time, and turn the payload
 * `"5"` into a number.
 */
const jsonb = customType<{ data: unknown }>({
  dataType: () => "jsonb",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (value) => value,
});

const ms = (name: string) => bigint(name, { mode: "number" });
const key = () => text("key").primaryKey();
const createdAtMs = () => ms("created_at_ms").notNull();
const updatedAtMs = () => ms("updated_at_ms").notNull();

function define<Schema extends string | undefined>(table: PgTableFn<Schema>) {
  const tasks = table(
    "cairnq_tasks",
    {
      id: text("id").primaryKey(),
      name: text("name").notNull(),
      queue: text("queue").notNull().default("default"),
      status: text("status", { enum: ["queued", "running", "succeeded", "failed", "canceled"] }).notNull(),
      payload: jsonb("payload").$type<unknown>().notNull(),
      result: jsonb("result").$type<unknown>(),
      error: jsonb("error").$type<ErrorEnvelope>(),
      metadata: jsonb("metadata").$type<{ [key: string]: Json }>().notNull().default({}),
      progress: doublePrecision("progress"),
      message: text("message"),
      attempt: integer("attempt").notNull().default(0),
      maxAttempts: integer("max_attempts").notNull().default(3),
      priority: integer("priority").notNull().default(0),
      workerId: text("worker_id"),
      leaseUntilMs: ms("lease_until_ms"),
      runAtMs: ms("run_at_ms").notNull(),
      cancelRequestedAtMs: ms("cancel_requested_at_ms"),
      parentId: text("parent_id"),
      rootId: text("root_id"),
      correlationId: text("correlation_id"),
      createdAtMs: createdAtMs(),
      updatedAtMs: updatedAtMs(),
      completedAtMs: ms("completed_at_ms"),
      /** Key of the limits it runs under; empty if there are none. */
      concurrencyKey: text("concurrency_key").notNull().default(""),
      /** Leases that expired. */
      crashes: integer("crashes").notNull().default(0),
      maxCrashes: integer("max_crashes").notNull().default(3),
      /** Null for what other SDKs submitted: only attempts count. */
      crashLimit: integer("crash_limit"),
      /** The lease token while the start of the task has not been announced. */
      hold: text("hold"),
      /** Until when a worker must have claimed it; null: no limit. */
      expiresAtMs: ms("expires_at_ms"),
      /** The task to submit when this one has failed; null: none. */
      onFailed: jsonb("on_failed"),
    },
    (t) => [
      index("wadi_tasks_queued_idx")
        .on(t.queue, t.name, t.concurrencyKey, t.priority.desc().nullsFirst(), t.runAtMs, t.id)
        .where(sql`status = 'queued'`),
      index("cairnq_tasks_lease_idx")
        .on(t.leaseUntilMs)
        .where(sql`status = 'running' and lease_until_ms is not null`),
      index("wadi_tasks_done_idx")
        .on(t.queue, t.status, t.completedAtMs, t.id)
        .where(sql`completed_at_ms is not null`),
      index("wadi_tasks_root_idx").on(t.rootId).where(sql`parent_id is not null`),
      index("wadi_tasks_correlation_idx").on(t.correlationId).where(sql`correlation_id is not null`),
      index("wadi_tasks_limited_idx")
        .on(t.concurrencyKey, t.workerId)
        .where(sql`status = 'running' and concurrency_key <> ''`),
      index("wadi_tasks_expiry_idx")
        .on(t.status, t.expiresAtMs)
        .where(sql`status = 'queued' and attempt = 0 and expires_at_ms is not null`),
    ],
  );

  const ofTask = () =>
    text("task_id")
      .notNull()
      .references(() => tasks.id, { onDelete: "cascade" });

  const taskKeys = table(
    "cairnq_task_keys",
    { key: key(), taskId: ofTask(), createdAtMs: createdAtMs(), updatedAtMs: updatedAtMs() },
    (t) => [index("wadi_task_keys_task_idx").on(t.taskId)],
  );

  const limits = table("wadi_limits", {
    key: key(),
    concurrency: integer("concurrency"),
    rateCount: integer("rate_count"),
    ratePerMs: ms("rate_per_ms"),
    updatedAtMs: updatedAtMs(),
  });

  const limitStarts = table(
    "wadi_limit_starts",
    {
      key: text("key")
        .notNull()
        .references(() => limits.key, { onDelete: "cascade" }),
      startedAtMs: ms("started_at_ms").notNull(),
      workerId: text("worker_id").notNull(),
      tasks: integer("tasks").notNull(),
    },
    (t) => [primaryKey({ columns: [t.key, t.startedAtMs, t.workerId] })],
  );

  const failures = table(
    "wadi_failures",
    {
      taskId: ofTask(),
      failedAtMs: ms("failed_at_ms").notNull(),
      attempt: integer("attempt").notNull(),
      kind: text("kind", { enum: ["error", "crash"] }).notNull(),
      workerId: text("worker_id"),
      error: jsonb("error").$type<ErrorEnvelope>().notNull(),
    },
    (t) => [primaryKey({ columns: [t.taskId, t.failedAtMs, t.attempt] })],
  );

  const pauses = table(
    "wadi_pauses",
    {
      queue: text("queue").notNull(),
      name: text("name").notNull(),
      pausedAtMs: ms("paused_at_ms").notNull(),
    },
    (t) => [primaryKey({ columns: [t.queue, t.name] })],
  );

  const wakes = table("wadi_wakes", {
    queue: text("queue").primaryKey(),
    kickedAtMs: ms("kicked_at_ms"),
    delayedAtMs: ms("delayed_at_ms"),
    activeUntilMs: ms("active_until_ms"),
    owner: text("owner"),
    names: jsonb("names"),
    hops: integer("hops").notNull().default(0),
  });

  const schedules = table(
    "wadi_schedules",
    {
      groupName: text("group_name").notNull(),
      name: text("name").notNull(),
      source: text("source", { enum: ["code", "stored"] }).notNull(),
      timing: text("timing").notNull(),
      policy: jsonb("policy").$type<Json>().notNull(),
      overlap: text("overlap", { enum: ["allow", "skip", "replace"] }).notNull(),
      maxFailures: integer("max_failures"),
      dynamic: integer("dynamic").notNull(),
      task: jsonb("task").$type<Json>().notNull(),
      pausedAtMs: ms("paused_at_ms"),
      pausedBy: text("paused_by", { enum: ["definition", "operator", "failures"] }),
      fromMs: ms("from_ms").notNull(),
      nextAtMs: ms("next_at_ms"),
      lastSlotMs: ms("last_slot_ms"),
      lastTaskId: text("last_task_id"),
      failures: integer("failures").notNull().default(0),
      createdAtMs: createdAtMs(),
      updatedAtMs: updatedAtMs(),
    },
    (t) => [
      primaryKey({ columns: [t.groupName, t.name] }),
      index("wadi_schedules_next_idx")
        .on(t.dynamic, t.nextAtMs)
        .where(sql`paused_at_ms is null and not (next_at_ms is null)`),
    ],
  );

  const scheduleGroups = table("wadi_schedule_groups", {
    groupName: text("group_name").primaryKey(),
    revision: ms("revision").notNull(),
    fingerprint: text("fingerprint").notNull(),
    updatedAtMs: updatedAtMs(),
  });

  const meta = table("cairnq_meta", { key: key(), value: text("value").notNull() });

  const ledger = () => ({ name: text("name").primaryKey(), appliedAtMs: ms("applied_at_ms").notNull() });
  const migrations = table("wadi_migrations", ledger());
  const referenceMigrations = table("cairnq_migrations", ledger());

  const ofTasks = { tasks, taskKeys, limits, limitStarts, failures, pauses, wakes };
  return { ...ofTasks, schedules, scheduleGroups, meta, migrations, referenceMigrations };
}

/**
 * The tables in the Postgres schema `name`, as with the `schema` option of the driver.
 *
 * @example
 * ```ts
 * import { schema } from "wadi/drizzle/postgres";
 *
 * const { tasks } = schema("jobs");
 * ```
 */
export function schema<Name extends string>(name: Name) {
  return define<Name | undefined>(
    (name === "public" ? pgTable : pgSchema(name).table) as PgTableFn<Name | undefined>,
  );
}

const tables = define(pgTable);

/** Every task, with the properties of a `Task`. For reading: only Wadi may write it. */
export const tasks = tables.tasks;
/** Which task a business key points at. */
export const taskKeys = tables.taskKeys;
/** The concurrency and rate that the fleet may use under one key. */
export const limits = tables.limits;
/** The starts that still count for a rate. */
export const limitStarts = tables.limitStarts;
/** The history of errors: a row for each attempt that failed and each lease that expired. */
export const failures = tables.failures;
/** What no worker claims: a queue, a name, or a name in a queue; an empty text stands for all. */
export const pauses = tables.pauses;
/** What submits know of the drains of a queue, by which they decide whether to kick one. */
export const wakes = tables.wakes;
/** What is to be queued when. */
export const schedules = tables.schedules;
/** Which definitions of schedules in code are stored, for each group. */
export const scheduleGroups = tables.scheduleGroups;
/** Versions of the protocol and of the schema. */
export const meta = tables.meta;
/** The migrations of Wadi that were applied. */
export const migrations = tables.migrations;
/** The migrations of the reference SDKs of the protocol, which those SDKs read. */
export const referenceMigrations = tables.referenceMigrations;
