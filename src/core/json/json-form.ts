import type { Json } from "../task.ts";

type IsAny<T> = 0 extends 1 & T ? true : false;

/** What no database can hold, and what JSON would silently write as `{}`. Classes with methods show by their methods. */
type Unwritable =
  | bigint
  | symbol
  | ((...args: never[]) => unknown)
  | (abstract new (
      ...args: never[]
    ) => unknown)
  | PromiseLike<unknown>
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>;

/**
 * What is read of a value of type `T` that was written as JSON: a `Date` is a string, and so is whatever has a `toJSON()`
 * that returns one. What JSON cannot hold is `never`.
 */
export type JsonForm<T> =
  IsAny<T> extends true
    ? T
    : unknown extends T
      ? T
      : T extends Json | undefined
        ? T
        : T extends { toJSON(...args: never[]): infer Written }
          ? JsonForm<Written>
          : T extends Unwritable
            ? never
            : { [Key in keyof T]: JsonForm<T[Key]> };

/** `T` where it survives JSON, `never` in the places where it does not. */
type Writable<T> =
  IsAny<T> extends true
    ? T
    : unknown extends T
      ? T
      : T extends Json | undefined | { toJSON(...args: never[]): unknown }
        ? T
        : T extends Unwritable
          ? never
          : { [Key in keyof T]: Writable<T[Key]> };

/** `Yes` if every value of type `T` can be written as JSON, else `No`. */
export type IfWritable<T, Yes, No> = [T] extends [Writable<T>] ? Yes : No;

/** A handler that returns nothing has the result null. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is what such a handler returns
export type JsonResult<T> = T extends void | undefined ? (unknown extends T ? T : null) : JsonForm<T>;
