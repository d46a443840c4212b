import { AlreadyExists, InvalidArgument } from "../../core/errors/errors.ts";
import { type CanceledTask, cancelTask } from "../../core/operations/control.ts";
import { fenceKeys } from "../../core/operations/fence-keys.ts";
import { combine, type Operation } from "../../core/operations/operation.ts";
import type { TaskRef } from "../../core/operations/read.ts";
import { splitTasks } from "../../core/operations/split-tasks.ts";
import { type NewTask, type SubmittedTask, submit } from "../../core/operations/submit.ts";
import type { Store } from "../../core/session/store.ts";
import type { AnyTaskDefinition } from "../define-task.ts";
import { prepareMany, validateMany } from "../submit/entries.ts";
import type { Prepare } from "../submit/prepare-task.ts";
import type { SubmitEntry, SubmitOptions } from "../submit/submit-options.ts";
import { byId, byKey } from "../task-admin.ts";

/** What comes at once from a client that answers at once. */
export type Maybe<T> = T | Promise<T>;

/** How operations reach the database together with the application's own rows. */
export interface Transport {
  /** Whether nothing may be waited for. */
  readonly isSync: boolean;
  /** Whether the results are seen only after the commit, so that a key that is taken has to fail the batch by itself. */
  readonly isBlind: boolean;
  /** Told of what was submitted, as far as anybody can know it, and from what. */
  onSubmitted(submitted: readonly SubmittedTask[], tasks: readonly NewTask[]): void;
  /** Told that a running task may have been asked to stop. It is not known whether that will be committed. */
  onCanceled(): void;
  /** `ids` are those of the tasks that the operation makes. */
  send<T>(operation: Operation<T>, ids?: object): Maybe<unknown>;
}

/** The calls that both ways have, with results as the way gives them. */
export interface TransactionalCalls {
  submit(task: string | AnyTaskDefinition, payload: unknown, options?: SubmitOptions): unknown;
  submitMany(task: string | AnyTaskDefinition, entries: readonly SubmitEntry[]): unknown;
  cancel(id: string): unknown;
  cancelByKey(key: string): unknown;
}

export function transactionalCalls(store: Store, prepare: Prepare, way: Transport): TransactionalCalls {
  const answer = <T>(work: () => Maybe<T>) => (way.isSync ? work() : (async () => work())());

  /** Sends `operation` once the payloads are known to be right. */
  function submitAll<T>(
    task: string | AnyTaskDefinition,
    prepared: readonly NewTask[],
    operation: Operation<T>,
    ids: object,
  ): Maybe<unknown> {
    const checks = validateMany(task, prepared).filter((check) => check);
    if (checks.length === 0) return way.send(operation, ids);
    const checked = Promise.all(checks);
    if (!way.isSync) return checked.then(() => way.send(operation, ids));
    checked.catch(() => {});
    throw new InvalidArgument(
      `the payload schema of "${(task as AnyTaskDefinition).name}" is asynchronous, and this transaction is synchronous; use a synchronous schema`,
    );
  }

  function submission<T>(tasks: readonly NewTask[], read: (submitted: SubmittedTask[]) => T): Operation<T> {
    const { target } = store.session;
    const parts = splitTasks(tasks, store.session.executor.limits).map((part) => submit(target, part));
    const { statements, decode } = combine("submit", parts);
    const operation: Operation<T> = {
      name: "submit",
      statements,
      decode: (results) => {
        const submitted = decode(results).flat();
        way.onSubmitted(submitted, tasks);
        return read(submitted);
      },
    };
    return way.isBlind ? fenceKeys(target, tasks, operation, { rejects: true }) : operation;
  }

  function cancellation(ref: TaskRef): Operation<CanceledTask | null> {
    const operation = cancelTask(store.session.target, ref);
    return {
      ...operation,
      decode: (results) => {
        const task = operation.decode(results);
        if (task?.status === "running") way.onCanceled();
        return task;
      },
    };
  }

  return {
    submit: (task, payload, options) =>
      answer(() => {
        const prepared = prepare(task, payload, options);
        const read = ([submitted]: SubmittedTask[]) => notRejected(prepared, submitted!);
        return submitAll(task, [prepared], submission([prepared], read), { id: prepared.columns.id });
      }),
    submitMany: (task, entries) =>
      answer(() => {
        const prepared = prepareMany(prepare, task, entries);
        const ids = prepared.map(({ columns }) => columns.id);
        return submitAll(
          task,
          prepared,
          submission(prepared, (submitted) => ownNamesOnly(prepared, submitted)),
          { ids },
        );
      }),
    cancel: (id) => answer(() => way.send(cancellation(byId(id)))),
    cancelByKey: (key) => answer(() => way.send(cancellation(byKey(key)))),
  };
}

/** @throws {AlreadyExists} */
export function notRejected({ key, columns }: NewTask, submitted: SubmittedTask): SubmittedTask {
  if (submitted.outcome !== "rejected") return submitted;
  throw new AlreadyExists(key!, submitted.id, { submitted: columns.name, existing: submitted.name });
}

/** @throws {AlreadyExists} for the first key that belongs to another name. */
function ownNamesOnly(tasks: readonly NewTask[], submitted: SubmittedTask[]): SubmittedTask[] {
  for (const [i, task] of tasks.entries()) {
    if (task.requiresSameName && submitted[i]!.name !== task.columns.name) notRejected(task, submitted[i]!);
  }
  return submitted;
}
