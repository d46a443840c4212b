// The shape of an operation that scenarios can call, and how arguments and results are read.

import type { Task } from "../../src/core/task.ts";
import type { Wadi } from "../../src/producer/wadi.ts";
import type { MovableClock } from "./clock.ts";

export type Args = Readonly<Record<string, unknown>>;

/** What the operations of one scenario share. */
export interface World {
  readonly wadi: Wadi;
  readonly clock: MovableClock;
  /** Attempt of the latest claim, by task id and worker id. */
  readonly attempts: Map<string, number>;
}

export interface ScenarioOperation {
  /** Every argument it takes; any other is a mistake in the scenario. */
  readonly args: readonly string[];
  run(world: World, args: Args): Promise<unknown>;
}

/** A task, or any other result, under the column names of the protocol. */
export function toRow(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => [
      field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      item,
    ]),
  );
}

/** A task that was read or controlled, without what Wadi says of the call itself. */
export function rowOrNull(task: Task | null): Record<string, unknown> | null {
  if (task === null) return null;
  const { outcome: _, key: __, ...row } = toRow(task);
  return row;
}

/** Drops what a scenario leaves out or sets to null, so that the client's defaults apply. */
export function given(options: Args): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  );
}

export function textArg(args: Args, name: string): string {
  const value = args[name];
  if (typeof value !== "string") throw new Error(`the argument ${name} must be a string`);
  return value;
}

export function numberArg(args: Args, name: string, preset?: number): number {
  const value = args[name] ?? preset;
  if (typeof value !== "number") throw new Error(`the argument ${name} must be a number`);
  return value;
}

export function textsArg(args: Args, name: string, preset?: readonly string[]): string[] {
  const value = args[name] ?? preset;
  if (!Array.isArray(value)) throw new Error(`the argument ${name} must be a list`);
  return value as string[];
}
