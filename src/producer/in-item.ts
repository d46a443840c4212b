import { InvalidArgument, SerializationError } from "../core/errors/errors.ts";

/** Runs a check of one item of a list; the message of its error begins with the item. */
export function inItem<T>(item: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw ofItem(item, error);
  }
}

/** The error of an item: a wrong argument gets a message that begins with the item, others stay as they are. */
export function ofItem(item: string, error: unknown, advice = ""): unknown {
  const type = [InvalidArgument, SerializationError].find((each) => error instanceof each);
  if (type === undefined) return error;
  const { message, cause } = error as Error;
  return new type(`${item}: ${message}${advice}`, { cause });
}
