import type { Dialect, Executor } from "../../src/core/executor.ts";
import type { StatementName } from "../../src/core/generated/statements.ts";

/** A broken predicate of a statement; the scenarios whose names begin with `scenarios` must fail. */
export interface Mutation {
  readonly breaks: string;
  readonly statement: StatementName | Record<Dialect, StatementName>;
  readonly find: RegExp;
  readonly replace: string;
  readonly scenarios: string;
}

const NOW = String.raw`(?:\(select ms from now\)|now\.ms)`;
const FAR = "9000000000000000";
const DEBOUNCE = { sqlite: "insert_keyed_tasks", postgres: "submit_keyed_tasks" } as const;
const KEYED = { sqlite: "free_task_keys", postgres: "submit_keyed_tasks" } as const;
const CRASHES = { sqlite: "insert_crashes", postgres: "recover_leases" } as const;
const FAILURES = { sqlite: "insert_failures", postgres: "settle_tasks" } as const;

export const MUTATIONS: readonly Mutation[] = [
  {
    breaks: "a failure of a canceled task keeps its error",
    statement: "settle_tasks",
    find: /coalesce\(settled\.error, task\.error\)/g,
    replace:
      "case settled.status when 'canceled' then task.error else coalesce(settled.error, task.error) end",
    scenarios: "fail-canceled",
  },
  {
    breaks: "a claim takes only due tasks",
    statement: "claim_tasks",
    find: new RegExp(`(run_at_ms (?:<=|between \\S+ and)) ${NOW}`, "g"),
    replace: `$1 ${FAR}`,
    scenarios: "claim-due-only",
  },
  {
    breaks: "a claim counts the attempt",
    statement: "claim_tasks",
    find: /attempt = (attempt|least\(attempt, 2147483646\)) \+ 1/g,
    replace: "attempt = $1",
    scenarios: "claim-counts-attempts",
  },
  {
    breaks: "a heartbeat needs a lease that has not expired",
    statement: "renew_leases",
    find: new RegExp(`> ${NOW}`, "g"),
    replace: "> 0",
    scenarios: "heartbeat-lost",
  },
  {
    breaks: "a heartbeat needs the owner",
    statement: "renew_leases",
    find: /\+?worker_id = (?=item|leases)/g,
    replace: "worker_id >= ",
    scenarios: "heartbeat-",
  },
  {
    breaks: "progress needs a lease that has not expired",
    statement: "update_progress",
    find: new RegExp(`> ${NOW}`, "g"),
    replace: "> 0",
    scenarios: "progress-lost",
  },
  {
    breaks: "progress that is null leaves the field alone",
    statement: "update_progress",
    find: /message = coalesce\((\S+), message\)/g,
    replace: "message = $1",
    scenarios: "progress-fields",
  },
  {
    breaks: "a settlement needs a lease that has not expired",
    statement: "settle_tasks",
    find: new RegExp(`> ${NOW}`, "g"),
    replace: "> 0",
    scenarios: "complete-lost-expired",
  },
  {
    breaks: "a settlement yields to a requested cancel",
    statement: "settle_tasks",
    find: /when (task|held)\.cancel_requested_at_ms is not null and/g,
    replace: "when $1.cancel_requested_at_ms = -1 and",
    scenarios: "complete-canceled",
  },
  {
    breaks: "the last attempt is the last",
    statement: "settle_tasks",
    find: /(task|held)\.attempt < \1\.max_attempts/g,
    replace: "$1.attempt <= $1.max_attempts",
    scenarios: "fail-last-attempt",
  },
  {
    breaks: "a task that is queued again has no owner",
    statement: "settle_tasks",
    find: /worker_id = case settled\.status when 'queued' then null else task\.worker_id end/g,
    replace: "worker_id = task.worker_id",
    scenarios: "fail-requeues",
  },
  {
    breaks: "an exit from running ends the lease",
    statement: "settle_tasks",
    find: /lease_until_ms = case settled\.status when 'running' then task\.lease_until_ms end/g,
    replace: "lease_until_ms = task.lease_until_ms",
    scenarios: "complete",
  },
  {
    breaks: "recovery waits for the lease to expire",
    statement: "recover_leases",
    find: new RegExp(`<= ${NOW}`, "g"),
    replace: `<= ${FAR}`,
    scenarios: "recover-spares-live-leases",
  },
  {
    breaks: "recovery yields to a requested cancel",
    statement: "recover_leases",
    find: /(judged\.)?cancel_requested_at_ms is not null/g,
    replace: "$1cancel_requested_at_ms = -1",
    scenarios: "recover-cancels",
  },
  {
    breaks: "an expired lease counts as a crash",
    statement: "recover_leases",
    find: /(task\.crashes(?:,| else) (?:recovered\.earlier_|expired\.)crashes) \+ 1/g,
    replace: "$1",
    scenarios: "crash-counts",
  },
  {
    breaks: "the last crash is the last",
    statement: "recover_leases",
    find: /crashes \+ 1 < /g,
    replace: "crashes < ",
    scenarios: "crash-limit",
  },
  {
    breaks: "recovery fails as lease_expired only where no attempts are left",
    statement: "recover_leases",
    find: /'max_crashes'/g,
    replace: "'lease_expired'",
    scenarios: "crash-limit",
  },
  {
    breaks: "a reset sets the crashes to zero",
    statement: "retry_task",
    find: /(crashes = case \S+) when 0/g,
    replace: "$1 when 1",
    scenarios: "crash-retry",
  },
  {
    breaks: "a crash is recorded",
    statement: CRASHES,
    find: /'crash'/g,
    replace: "'error'",
    scenarios: "crash-",
  },
  {
    breaks: "a failure needs a lease that has not expired",
    statement: FAILURES,
    find: new RegExp(`> ${NOW}`, "g"),
    replace: "> 0",
    scenarios: "failures-lost-lease",
  },
  {
    breaks: "a canceled attempt is no failure",
    statement: FAILURES,
    find: /(?:task|held)\.cancel_requested_at_ms is null/g,
    replace: "true",
    scenarios: "failures-canceled",
  },
  {
    breaks: "the history is ordered oldest first",
    statement: "list_failures",
    find: /order by failed_at_ms/g,
    replace: "order by -failed_at_ms",
    scenarios: "failures-history",
  },
  {
    breaks: "cancel only asks a running task to stop",
    statement: "cancel_task",
    find: /case status when 'queued' then 'canceled' else status end/g,
    replace: "'canceled'",
    scenarios: "cancel-running",
  },
  {
    breaks: "retry takes failed and canceled tasks only",
    statement: "retry_task",
    find: /in \('failed', 'canceled'\)/g,
    replace: "in ('failed', 'canceled', 'succeeded')",
    scenarios: "retry-leaves-others",
  },
  {
    breaks: "purge keeps what completed lately",
    statement: "purge_tasks",
    find: /< \(select ms from cutoff\)/g,
    replace: `< ${FAR}`,
    scenarios: "purge-age",
  },
  {
    breaks: "purge filters by name",
    statement: "purge_tasks",
    find: /\bname = /g,
    replace: "name >= ",
    scenarios: "purge-filters",
  },
  {
    breaks: "reuse returns a running task",
    statement: KEYED,
    find: /not in \('queued', 'running'\)/g,
    replace: "not in ('queued')",
    scenarios: "conflict-reuse-live",
  },
  {
    breaks: "reuse-succeeded returns a succeeded task",
    statement: KEYED,
    find: /not in \('queued', 'running', 'succeeded'\)/g,
    replace: "not in ('queued', 'running')",
    scenarios: "conflict-reuse-succeeded-terminal",
  },
  {
    breaks: "a debounced task runs with the newest payload",
    statement: DEBOUNCE,
    find: /payload = excluded\.payload/g,
    replace: "payload = cairnq_tasks.payload",
    scenarios: "debounce-queued",
  },
  {
    breaks: "a debounced task is due at its latest",
    statement: DEBOUNCE,
    find: /->>'max_delay_ms'/g,
    replace: "->>'no_such_field'",
    scenarios: "debounce-latest",
  },
  {
    breaks: "a debounce leaves a running task alone",
    statement: KEYED,
    find: /(status(?: end)?)(, ''\))? <> 'queued'/g,
    replace: "$1$2 = 'succeeded'",
    scenarios: "debounce-running",
  },
  {
    breaks: "a throttle ends with its window",
    statement: KEYED,
    find: /> (.*?) - \((.*?throttle_ms)/g,
    replace: "> $1 - 2 * ($2",
    scenarios: "throttle-window",
  },
  {
    breaks: "a throttled replace cancels nothing",
    statement: "cancel_replaced_tasks",
    find: /throttle_ms/g,
    replace: "no_such_field",
    scenarios: "throttle-replace",
  },
  {
    breaks: "a list is ordered newest first",
    statement: "list_tasks",
    find: /\bid desc/g,
    replace: "id",
    scenarios: "list-newest-first",
  },
];

/** The executor with that statement broken. Throws if the text to break is not in it any more. */
export function mutated(executor: Executor, { statement, find, replace }: Mutation): Executor {
  const name = typeof statement === "string" ? statement : statement[executor.dialect];
  const { statements } = executor.protocol;
  const intact = statements[name]!;
  const sql = intact.sql.replace(find, replace);
  if (sql === intact.sql) throw new Error(`${find} is not in ${name} any more: ${sql}`);
  const protocol = { ...executor.protocol, statements: { ...statements, [name]: { ...intact, sql } } };
  return { ...executor, protocol };
}
