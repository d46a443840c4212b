/** Names of schedules and groups, and the key of the task that a slot gets. */
import { InvalidArgument } from "../../core/errors/errors.ts";
import { text } from "../../core/validate.ts";

export const DEFAULT_GROUP = "default";

/** So that the key of a slot, which holds both names, is no longer than a key may be. */
const MAX_NAME = 400;

/** @throws {InvalidArgument} if it is no name of a schedule or a group. */
export function checkScheduleName(option: string, value: unknown): string {
  const name = text(option, value);
  if (name.length > MAX_NAME)
    throw new InvalidArgument(`${option} must be at most ${MAX_NAME} characters, got ${name.length}`);
  return name;
}

/** The key of the task of a slot, such as `default/report@2026-11-30T09:00:00.000Z`: no slot gets two tasks. */
export function slotKey(group: string, name: string, slotMs: number): string {
  return `${group}/${name}@${new Date(slotMs).toISOString()}`;
}
