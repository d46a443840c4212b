// What happens where two flow controls meet on one task: the cells of the table in docs/flow-control.md, as data with
// which the tests and the page are compared.

export const CONTROLS = ["expiry", "pause", "bulk", "snooze", "onFailed"] as const;
export const OTHERS = ["keys", "limits", "batch", "succeedWith", "prefetch", "another SDK"] as const;

export type Control = (typeof CONTROLS)[number];
export type Other = (typeof OTHERS)[number];

/** A control, what it meets, and what happens; the last one word `independent` for nothing worth saying. */
export type Cell = readonly [control: Control, meets: Control | Other, what: string];

export const CELLS: readonly Cell[] = [
  ["expiry", "pause", "a paused task expires: the pause does not stop its time"],
  ["expiry", "bulk", "`cancelMany` leaves an expired task alone; retried, it expires no more"],
  ["expiry", "snooze", "a snoozed task was claimed in time, and expires no more"],
  ["expiry", "onFailed", "an expired task is canceled and submits nothing; the submitted task can expire"],
  ["expiry", "keys", "an expired task has freed its key: the next submit makes a new task"],
  ["expiry", "limits", "a task that waits for its limit expires"],
  ["expiry", "batch", "independent"],
  ["expiry", "succeedWith", "independent"],
  ["expiry", "prefetch", "a task claimed ahead is in time; released unstarted, it can expire"],
  ["expiry", "another SDK", "its worker may claim an expired task, which then runs and ends as any other"],
  ["pause", "bulk", "paused tasks are taken as well; a retried one waits for the resume"],
  ["pause", "snooze", "a task that runs may snooze; it runs again after the resume"],
  ["pause", "onFailed", "it is submitted, and waits if its own queue or name is paused"],
  ["pause", "keys", "independent"],
  ["pause", "limits", "a paused task takes no place: other tasks of its key run"],
  ["pause", "batch", "independent"],
  ["pause", "succeedWith", "independent"],
  ["pause", "prefetch", "tasks that were claimed ahead of the pause still run"],
  ["pause", "another SDK", "its worker does not know pauses, and claims the task"],
  ["bulk", "snooze", "a snoozed task is queued, so `cancelMany` cancels it at once"],
  ["bulk", "onFailed", "a cancel and a purge submit nothing; a retried task that fails again submits again"],
  ["bulk", "keys", "a retried task keeps its key unless another has taken it; a purge frees the key"],
  ["bulk", "limits", "a task asked to stop keeps its place until it ends; a retried one waits for its limit"],
  ["bulk", "batch", "of a batch only the tasks asked to stop end as canceled"],
  ["bulk", "succeedWith", "a task asked to stop refuses it with `TaskCanceled`, and nothing is written"],
  ["bulk", "prefetch", "a task claimed ahead counts as running; it is canceled without being started"],
  ["bulk", "another SDK", "its running tasks get the cancel request, its other tasks are changed as any"],
  ["snooze", "onFailed", "a snooze is no failure, and submits nothing"],
  ["snooze", "keys", "a snoozed task keeps its key: a submit returns it, and a debounce moves it"],
  ["snooze", "limits", "a snoozed task gives up its place; its start counts for the rate"],
  ["snooze", "batch", "only the task of that context is snoozed"],
  ["snooze", "succeedWith", "refused after a snooze, and nothing is written"],
  ["snooze", "prefetch", "independent"],
  ["snooze", "another SDK", "it sees a queued task, and claims it when it is due"],
  ["onFailed", "keys", "the payload names the key of the failed task; the submitted task has none"],
  ["onFailed", "limits", "the failed task gives up its place; a definition with `limits` is refused"],
  ["onFailed", "batch", "each task of a batch that fails submits its own"],
  ["onFailed", "succeedWith", "independent"],
  ["onFailed", "prefetch", "independent"],
  ["onFailed", "another SDK", "a failure that it stores submits the task too, in the same statement"],
];
