// Fragments of SQL in the compiler of the protocol.

import { expect, it } from "vitest";
import { expand, type Fragments, parseFragment } from "../../../scripts/protocol/fragments.ts";

const file = (...lines: string[]) => parseFragment("f.sql", lines.join("\n"));

const fragments: Fragments = new Map([
  ["now", file("-- The present time.", "unixepoch()")],
  [
    "queued",
    file(
      "-- Whether a task is queued.",
      "-- @param queue its queue",
      "-- @param name? its name",
      "task.queue = @queue",
      "  and task.name = @name",
    ),
  ],
  [
    "least",
    file(
      "-- The least name.",
      "-- @param where which tasks",
      "(select min(task.name) from tasks task where @where) -- @note(x)",
    ),
  ],
  ["first", file("-- The first name of a queue.", "-- @param queue the queue", "@least(@queued(@queue))")],
]);

function expanded(sql: string): string {
  return expand("s.sql", sql, fragments, () => {}).replace(/\s+/g, " ");
}

it("stands for its text, which may call others", () => {
  expect(expanded("select @now()")).toBe("select unixepoch()");
  expect(expanded("select @first(lane.queue) as name")).toBe(
    "select (select min(task.name) from tasks task where task.queue = lane.queue) as name",
  );
});

it("takes SQL as an argument, with its parentheses, commas and quotes", () => {
  expect(expanded("@queued(coalesce(a, 'x,)'), ',')")).toBe(
    "task.queue = coalesce(a, 'x,)') and task.name = ','",
  );
});

it("drops the lines of an argument that is left out", () => {
  expect(expanded("@queued('a')").trim()).toBe("task.queue = 'a'");
});

it("says which fragments are used", () => {
  const used: string[] = [];
  expand("s.sql", "@first(q)", fragments, (name) => used.push(name));
  expect(used).toEqual(["first", "least", "queued"]);
});

it.each([
  ["@missing()", "s.sql: there is no fragment missing"],
  ["@queued()", "s.sql: @queued lacks the argument queue"],
  ["@now(1)", "s.sql: @now takes 0 arguments, got 1"],
  ["@queued(a", "s.sql: the arguments of a fragment have no end"],
])("refuses %s", (sql, message) => {
  expect(() => expanded(sql)).toThrow(message);
});

it.each([
  [["select @a"], "the first line must be a summary"],
  [["-- Something.", "select @a"], "@a has no @param line"],
  [["-- Something.", "-- @param a what it is", "select 1"], "@param a is not used"],
])("refuses the file %j", (lines, message) => {
  expect(() => file(...lines)).toThrow(`f.sql: ${message}`);
});
