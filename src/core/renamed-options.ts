/** Advice for an unknown option: its name in Wadi, or the call that takes it. */

type Names = Readonly<Record<string, string>>;

const SUBMIT: Names = { runAtDelayMs: "delayMs", keysAcrossNames: "keysAcrossNames of new Wadi" };
const WAIT: Names = { waitTimeoutMs: "timeoutMs", pollIntervalMs: "pollMs", maxPollIntervalMs: "maxPollMs" };
const OF_THE_CLIENT: Names = {
  maxQueueDepth: "maxQueueDepth of new Wadi",
  maxQueueWaitMs: "maxQueueWaitMs of new Wadi",
  queuePollIntervalMs: "not needed: maxQueueWaitMs of new Wadi is enough",
  busyTimeoutMs: "busyTimeoutMs of the driver, as in betterSqlite3(db, { busyTimeoutMs })",
  schema: "schema of the driver, as in pg(pool, { schema })",
  max: "max of the pool that the driver takes",
};
const OF_THE_WORKER = {
  concurrency: "concurrency of new Worker",
  queues: "queues of new Worker",
  leaseMs: "leaseMs of new Worker",
} satisfies Names;

/** Options that a call takes in a separate object after its options. */
const OF_THE_CALL: Names = {
  signal: "signal of a separate argument: (..., options, { signal, deadlineMs })",
  deadlineMs: "deadlineMs of a separate argument: (..., options, { signal, deadlineMs })",
};

/**
 * Names in Wadi of options of the CairnQ SDKs and of options that belong to another call, by the call that got them.
 */
const RENAMED: Readonly<Record<string, Names>> = {
  submit: SUBMIT,
  call: { ...SUBMIT, ...WAIT },
  wait: WAIT,
  waitByKey: WAIT,
  waitMany: WAIT,
  waitManyByKey: WAIT,
  watch: WAIT,
  watchByKey: WAIT,
  "new Wadi": {
    ...OF_THE_CLIENT,
    retention: "retention of new Worker, or wadi.sweep(rules)",
  },
  "new Worker": {
    ...OF_THE_CLIENT,
    workerId: "name",
    pollIntervalMs: "pollMs",
    retryBackoffMs: "backoff: { baseMs }",
    retryBackoffMaxMs: "backoff: { capMs }",
    claimBatch: "not needed: a claim fills the free slots, and prefetch claims ahead of them",
    heartbeatIntervalMs: "not needed: leases are renewed in time for leaseMs",
    retentionIntervalMs: "sweepMs",
    budgetMs: "budgetMs of drain",
    deadline: "deadline of drain",
    lingerMs: "lingerMs of drain",
    maxTasks: "maxTasks of drain",
    maxQueries: "maxQueries of drain",
    graceMs: "graceMs of run, serve or stop",
    signal: "signal of drain, run or serve",
    batch: "batch of worker.task",
    resource: "resource of worker.task, and resources of new Worker",
    keysAcrossNames: "keysAcrossNames of new Wadi",
  },
  task: {
    maxRun: "maxRunMs",
    leaseMs: OF_THE_WORKER.leaseMs,
    maxAttempts: "maxAttempts of defineTask or submit",
    maxCrashes: "maxCrashes of defineTask or submit",
    priority: "priority of defineTask or submit",
    limits: "limits of defineTask or submit",
  },
  drain: OF_THE_WORKER,
  run: OF_THE_WORKER,
  serve: OF_THE_WORKER,
  background: OF_THE_WORKER,
  "a retention rule": { intervalMs: "sweepMs of new Worker", limit: "limit of wadi.sweep" },
  sweep: { ...OF_THE_CALL, intervalMs: "sweepMs of new Worker", olderThanMs: "olderThanMs of each rule" },
  list: OF_THE_CALL,
  purge: OF_THE_CALL,
  retry: OF_THE_CALL,
  migrate: OF_THE_CALL,
};

/**
 * The name in Wadi of an unknown option, if the CairnQ SDKs have it, in the spelling of JavaScript or Python; undefined
 * otherwise.
 */
export function renamedOption(what: string, field: string, known: readonly string[]): string | undefined {
  const name = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (known.includes(name)) return name;
  const names = RENAMED[what];
  return names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
}
