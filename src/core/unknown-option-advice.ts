/** Advice for an unknown option: its name in Wadi, or the call that takes it. */

type Names = Readonly<Record<string, string>>;

/** Options that keep their name and belong to another place. */
const belongTo = (place: string, ...options: string[]): Names =>
  Object.fromEntries(options.map((option) => [option, `${option} of ${place}`]));

/** The same names for several calls. */
const forEach = (calls: readonly string[], names: Names) =>
  Object.fromEntries(calls.map((call) => [call, names]));

const SUBMIT: Names = { runAtDelayMs: "delayMs", ...belongTo("new Wadi", "keysAcrossNames") };
const WAIT: Names = { waitTimeoutMs: "timeoutMs", pollIntervalMs: "pollMs", maxPollIntervalMs: "maxPollMs" };
const OF_THE_CLIENT: Names = {
  ...belongTo("new Wadi", "maxQueueDepth", "maxQueueWaitMs"),
  queuePollIntervalMs: "not needed: maxQueueWaitMs is enough",
  ...belongTo("the driver, as in betterSqlite3(db, { busyTimeoutMs })", "busyTimeoutMs"),
  ...belongTo("the driver, as in pg(pool, { schema })", "schema"),
  ...belongTo("the driver's pool", "max"),
};

/** Options that a call takes in a separate object after its options. */
const OF_THE_CALL = belongTo(
  "a separate argument: (..., options, { signal, deadlineMs })",
  "signal",
  "deadlineMs",
);

/**
 * Names in Wadi of options of the CairnQ SDKs and of options that belong to another call, by the call that got them.
 */
const RENAMED: Readonly<Record<string, Names>> = {
  submit: SUBMIT,
  call: { ...SUBMIT, ...WAIT },
  ...forEach(["wait", "waitByKey", "waitMany", "waitManyByKey", "watch", "watchByKey"], WAIT),
  "new Wadi": {
    ...OF_THE_CLIENT,
    retry: "requestRetry",
    ...belongTo("new Worker, or wadi.sweep(rules)", "retention"),
  },
  "new Worker": {
    ...OF_THE_CLIENT,
    workerId: "name",
    pollIntervalMs: "pollMs",
    retryBackoffMs: "backoff: { baseMs }",
    retryBackoffMaxMs: "backoff: { capMs }",
    claimBatch: "not needed: a claim fills the free slots",
    heartbeatIntervalMs: "not needed: leases are renewed in time",
    retentionIntervalMs: "sweepMs",
    ...belongTo("drain", "budgetMs", "deadline", "lingerMs", "maxTasks", "maxQueries"),
    ...belongTo("run, serve or stop", "graceMs"),
    ...belongTo("drain, run or serve", "signal"),
    ...belongTo("worker.task", "batch"),
    ...belongTo("worker.task, and resources of new Worker", "resource"),
    ...belongTo("new Wadi", "keysAcrossNames"),
  },
  task: {
    maxRun: "maxRunMs",
    ...belongTo("new Worker", "leaseMs"),
    ...belongTo("defineTask or submit", "maxAttempts", "maxCrashes", "priority", "expiresInMs", "limits"),
  },
  ...forEach(
    ["drain", "run", "serve", "background"],
    belongTo("new Worker", "concurrency", "queues", "leaseMs"),
  ),
  "a retention rule": { intervalMs: "sweepMs of new Worker", ...belongTo("wadi.sweep", "limit") },
  sweep: {
    ...OF_THE_CALL,
    intervalMs: "sweepMs of new Worker",
    ...belongTo("each rule", "olderThanMs"),
  },
  ...forEach(["list", "purge", "retry", "migrate"], OF_THE_CALL),
};

/**
 * The name in Wadi of an unknown option, if the CairnQ SDKs have it, in the spelling of JavaScript or Python; undefined
 * otherwise.
 */
export function unknownOptionAdvice(
  what: string,
  field: string,
  known: readonly string[],
): string | undefined {
  const name = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (known.includes(name)) return name;
  const names = RENAMED[what];
  return names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
}
