/** The type that values have after they were written as JSON and read back. */

import type { Json } from "../task.ts";

type IsAny<T> = 0 extends 1 & T ? true : false;

/**
 * Types that JSON cannot hold, or would silently write as `{}`. A class instance is recognised by its methods.
 */
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
 * The type that is read back after a value of type `T` was written as JSON: a `Date` is a string, and so is a value
 * with a `toJSON()` that returns one. What JSON cannot hold is `never`.
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

/** `T` with `never` in the places that JSON cannot hold. */
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
