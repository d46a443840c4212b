/** Drizzle's definitions of Wadi's tables on SQLite, for queries and joins. */

import { sql } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ErrorEnvelope, Json } from "../core/task.ts";

const key = () => text("key").primaryKey();
const createdAtMs = () => integer("created_at_ms").notNull();
const updatedAtMs = () => integer("updated_at_ms").notNull();

/** Every task, with the properties of a `Task`. For reading: only Wadi may write it. */
export const tasks = sqliteTable(
  "cairnq_tasks",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    queue: text("queue").notNull().default("default"),
    status: text("status", { enum: ["queued", "running", "succeeded", "failed", "canceled"] }).notNull(),
    payload: text("payload", { mode: "json" }).$type<unknown>().notNull(),
    result: text("result", { mode: "json" }).$type<unknown>(),
    error: text("error", { mode: "json" }).$type<ErrorEnvelope>(),
    metadata: text("metadata", { mode: "json" }).$type<{ [key: string]: Json }>().notNull().default({}),
    progress: real("progress"),
    message: text("message"),
    attempt: integer("attempt").notNull().default(0),
    maxAttempts: integer("max_attempts").notNull().default(3),
    priority: integer("priority").notNull().default(0),
    workerId: text("worker_id"),
    leaseUntilMs: integer("lease_until_ms"),
    runAtMs: integer("run_at_ms").notNull(),
    cancelRequestedAtMs: integer("cancel_requested_at_ms"),
    parentId: text("parent_id"),
    rootId: text("root_id"),
    correlationId: text("correlation_id"),
    createdAtMs: createdAtMs(),
    updatedAtMs: updatedAtMs(),
    completedAtMs: integer("completed_at_ms"),
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
    expiresAtMs: integer("expires_at_ms"),
    /** The task to submit when this one has failed, as JSON; null: none. */
    onFailed: text("on_failed"),
  },
  (t) => [
    index("wadi_tasks_queued_idx")
      .on(t.queue, t.name, t.concurrencyKey, sql`priority desc`, t.runAtMs, t.id)
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
      .where(sql`status = 'queued' and attempt = 0 and not (expires_at_ms is null)`),
  ],
);

const ofTask = () =>
  text("task_id")
    .notNull()
    .references(() => tasks.id, { onDelete: "cascade" });

/** Which task a business key points at. */
export const taskKeys = sqliteTable(
  "cairnq_task_keys",
  { key: key(), taskId: ofTask(), createdAtMs: createdAtMs(), updatedAtMs: updatedAtMs() },
  (t) => [index("wadi_task_keys_task_idx").on(t.taskId)],
);

/** The concurrency and rate that the fleet may use under one key. */
export const limits = sqliteTable("wadi_limits", {
  key: key(),
  concurrency: integer("concurrency"),
  rateCount: integer("rate_count"),
  ratePerMs: integer("rate_per_ms"),
  updatedAtMs: updatedAtMs(),
});

/** The starts that still count for a rate. */
export const limitStarts = sqliteTable(
  "wadi_limit_starts",
  {
    key: text("key")
      .notNull()
      .references(() => limits.key, { onDelete: "cascade" }),
    startedAtMs: integer("started_at_ms").notNull(),
    workerId: text("worker_id").notNull(),
    tasks: integer("tasks").notNull(),
  },
  (t) => [primaryKey({ columns: [t.key, t.startedAtMs, t.workerId] })],
);

/** The history of errors: a row for each attempt that failed and each lease that expired. */
export const failures = sqliteTable(
  "wadi_failures",
  {
    taskId: ofTask(),
    failedAtMs: integer("failed_at_ms").notNull(),
    attempt: integer("attempt").notNull(),
    kind: text("kind", { enum: ["error", "crash"] }).notNull(),
    workerId: text("worker_id"),
    error: text("error", { mode: "json" }).$type<ErrorEnvelope>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.taskId, t.failedAtMs, t.attempt] })],
);

/** What submits know of the drains of a queue, by which they decide whether to kick one. */
export const wakes = sqliteTable("wadi_wakes", {
  queue: text("queue").primaryKey().notNull(),
  kickedAtMs: integer("kicked_at_ms"),
  delayedAtMs: integer("delayed_at_ms"),
  activeUntilMs: integer("active_until_ms"),
  owner: text("owner"),
  names: text("names"),
  hops: integer("hops").notNull().default(0),
});

/** What no worker claims: a queue, a name, or a name in a queue; an empty text stands for all. */
export const pauses = sqliteTable(
  "wadi_pauses",
  {
    queue: text("queue").notNull(),
    name: text("name").notNull(),
    pausedAtMs: integer("paused_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.queue, t.name] })],
);

/** What is to be queued when. */
export const schedules = sqliteTable(
  "wadi_schedules",
  {
    groupName: text("group_name").notNull(),
    name: text("name").notNull(),
    source: text("source", { enum: ["code", "stored"] }).notNull(),
    timing: text("timing", { mode: "json" }).$type<Json>().notNull(),
    policy: text("policy", { mode: "json" }).$type<Json>().notNull(),
    overlap: text("overlap", { enum: ["allow", "skip", "replace"] }).notNull(),
    maxFailures: integer("max_failures"),
    dynamic: integer("dynamic").notNull(),
    task: text("task", { mode: "json" }).$type<Json>().notNull(),
    pausedAtMs: integer("paused_at_ms"),
    pausedBy: text("paused_by", { enum: ["definition", "operator", "failures"] }),
    fromMs: integer("from_ms").notNull(),
    nextAtMs: integer("next_at_ms"),
    lastSlotMs: integer("last_slot_ms"),
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

/** Which definitions of schedules in code are stored, for each group. */
export const scheduleGroups = sqliteTable("wadi_schedule_groups", {
  groupName: text("group_name").primaryKey(),
  revision: integer("revision").notNull(),
  fingerprint: text("fingerprint").notNull(),
  updatedAtMs: updatedAtMs(),
});

/** Versions of the protocol and of the schema. */
export const meta = sqliteTable("cairnq_meta", { key: key(), value: text("value").notNull() });

const ledger = () => ({ name: text("name").primaryKey(), appliedAtMs: integer("applied_at_ms").notNull() });

/** The migrations of Wadi that were applied. */
export const migrations = sqliteTable("wadi_migrations", ledger());

/** The migrations of the reference SDKs of the protocol, which those SDKs read. */
export const referenceMigrations = sqliteTable("cairnq_migrations", ledger());
