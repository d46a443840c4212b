/** Reads many rows in as few requests as the size of the responses allows. */

import { type DriverError, WadiError } from "../errors/errors.ts";
import { getTasks, type ListFilter, listTasks } from "../operations/read.ts";
import type { Task } from "../task.ts";
import type { OperationOptions } from "./operation-options.ts";
import type { Session } from "./session.ts";

/** Whether the response was larger than the database or its client may send. It may have been committed. */
export function isTooLarge(error: unknown): boolean {
  return WadiError.is(error) && (error as Partial<DriverError>).kind === "response-too-large";
}

/** The tasks of these ids that exist. */
export function getTasksByHalves(
  session: Session,
  ids: readonly string[],
  call?: OperationOptions,
): Promise<Task[]> {
  return inPages(0, ids.length, (first, count) =>
    session.execute(getTasks(session.target, ids.slice(first, first + count)), call),
  );
}

/** Lists tasks. Those that were submitted between two requests are not listed twice. */
export async function listTasksByHalves(
  session: Session,
  filter: ListFilter,
  call?: OperationOptions,
): Promise<Task[]> {
  const tasks = await inPages(filter.skip_tasks, filter.max_tasks, (first, count) =>
    session.execute(listTasks(session.target, { ...filter, skip_tasks: first, max_tasks: count }), call),
  );
  return [...new Map(tasks.map((task) => [task.id, task])).values()];
}

/**
 * Reads `count` rows beginning with `first`, in one request. If the response is larger than the database or its client
 * may send, each half is read separately; a single row that is too large is an error.
 */
async function inPages<T>(
  first: number,
  count: number,
  read: (first: number, count: number) => Promise<T[]>,
): Promise<T[]> {
  try {
    return await read(first, count);
  } catch (error) {
    if (count < 2 || !isTooLarge(error)) throw error;
  }
  const half = Math.ceil(count / 2);
  const page = await inPages(first, half, read);
  return [...page, ...(await inPages(first + half, count - half, read))];
}
