/**
 * Submits and cancels that are committed together with the application's rows. They are checked as any others, and then
 * given to a transport: a batch that the application sends, or its open transaction.
 */
import { InvalidArgument } from "../../core/errors/errors.ts";
import { type CanceledTask, cancelTask } from "../../core/operations/control.ts";
import { fenceTakenKeys } from "../../core/operations/fence-taken-keys.ts";
import { combine, type Operation } from "../../core/operations/operation.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import { splitTasks } from "../../core/operations/split-tasks.ts";
import { type NewTask, type SubmittedTask, submit } from "../../core/operations/submit.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import type { WadiInternals } from "../internals.ts";
import { validateEntries } from "../submit/entries.ts";
import { refuseOtherNames, refuseRejected } from "../submit/rejected.ts";
import type { SubmitEntry, SubmitOptions } from "../submit/submit-options.ts";
import { byId, byKey } from "../tasks/task-ref.ts";
import type { Kickable } from "../wake/wake.ts";

/** A value from a client that is synchronous, a promise from any other. */
export type Maybe<T> = T | Promise<T>;

/** How operations reach the database together with the application's own rows. */
export interface Transport {
  readonly isSync: boolean;
  /** Whether results are read only after the commit, so that a key that is taken has to fail the batch by itself. */
  readonly readsAfterCommit: boolean;
  /** `ids` are those of the tasks that the operation makes. */
  send<T>(operation: Operation<T>, ids?: object): Maybe<unknown>;
}

/** The methods of both ways, with results as the transport returns them. */
export interface TransactionalCalls {
  submit(task: string | AnyTaskDefinition, payload: unknown, options?: SubmitOptions): unknown;
  submitMany(task: string | AnyTaskDefinition, entries: readonly SubmitEntry[]): unknown;
  cancel(id: string): unknown;
  cancelByKey(key: string): unknown;
}

export function transactionalCalls(internals: WadiInternals, transport: Transport): TransactionalCalls {
  const { submitter } = internals;
  const answer = <T>(work: () => Maybe<T>) => (transport.isSync ? work() : (async () => work())());
  return {
    submit: (task, payload, options) =>
      answer(() => {
        const prepared = submitter.prepare({ task, payload, options });
        const read = ([submitted]: SubmittedTask[]) => refuseRejected(prepared, submitted!);
        const ids = { id: prepared.columns.id };
        return submitAll(internals, transport, task, [prepared], read, ids);
      }),
    submitMany: (task, entries) =>
      answer(() => {
        const prepared = submitter.prepareMany(task, entries);
        const read = (submitted: SubmittedTask[]) => refuseOtherNames(prepared, submitted);
        const ids = prepared.map(({ columns }) => columns.id);
        return submitAll(internals, transport, task, prepared, read, { ids });
      }),
    cancel: (id) => answer(() => transport.send(cancelOperation(internals, byId(id)))),
    cancelByKey: (key) => answer(() => transport.send(cancelOperation(internals, byKey(key)))),
  };
}

function kickable({ waker, hint }: WadiInternals, tasks: readonly NewTask[]): Kickable {
  const kick = async () => {
    hint?.touch();
    await waker?.kickFor(tasks);
  };
  return { kick };
}

/**
 * Sends once the payloads are known to be valid, and announces the tasks once their rows are read. A result that comes
 * before the commit can be kicked after it.
 */
function submitAll<T extends object>(
  internals: WadiInternals,
  transport: Transport,
  task: string | AnyTaskDefinition,
  prepared: readonly NewTask[],
  read: (submitted: SubmittedTask[]) => T,
  ids: object,
): Maybe<unknown> {
  const { session, submitter } = internals;
  const { target } = session;
  const { readsAfterCommit } = transport;
  const parts = splitTasks(prepared, session.executor.limits).map((part) => submit(target, part));
  const { name, statements, decode } = combine("submit", parts);
  const submission: Operation<T> = {
    name,
    statements,
    decode: (results) => {
      const submitted = decode(results).flat();
      submitter.announce(submitted, prepared);
      const answer = read(submitted);
      if (readsAfterCommit) return answer;
      const { kick } = kickable(internals, prepared);
      return Object.defineProperty(answer, "kick", { value: kick }); // not enumerable: neither stored nor compared
    },
  };
  const operation = readsAfterCommit
    ? fenceTakenKeys(target, prepared, submission, { rejects: true })
    : submission;
  const pending = validateEntries(task, prepared);
  const send = () => transport.send(operation, { ...ids, ...kickable(internals, prepared) });
  if (pending.length === 0) return send();
  const validated = Promise.all(pending);
  if (!transport.isSync) return validated.then(send);
  validated.catch(() => {});
  throw new InvalidArgument(
    `the payload schema of "${(task as AnyTaskDefinition).name}" is asynchronous, ` +
      "and this transaction is synchronous; use a synchronous schema",
  );
}

/** Reports that a running task may have been asked to stop: it is not known whether that will be committed. */
function cancelOperation({ session, notifier }: WadiInternals, ref: TaskRef): Operation<CanceledTask | null> {
  const operation = cancelTask(session.target, ref);
  return {
    ...operation,
    decode: (results) => {
      const task = operation.decode(results);
      if (task?.status === "running") notifier.canceled(null);
      return task;
    },
  };
}
