// Marks of the schema in the compiled SQL of Postgres.

import { expect, it } from "vitest";
import { marksFor, templateOf } from "../../../scripts/protocol/schema-marks.ts";

const mark = marksFor([
  "create table if not exists jobs (id text)",
  "create or replace function notify() returns trigger language plpgsql as $$ begin end $$",
]);

/** What the template literal says where the schema is `s`. */
function inSchema(sql: string, schema = "s.", schemaInString = "t."): string {
  return new Function("schema", "schemaInString", `return ${templateOf(mark(sql))}`)(schema, schemaInString);
}

it.each([
  [
    "select jobs.id from jobs j join jobs_old on true",
    "select s.jobs.id from s.jobs j join jobs_old on true",
  ],
  ["select 'jobs', \"jobs\", '@schema.jobs'::regclass", "select 'jobs', \"jobs\", 't.jobs'::regclass"],
  [
    "do $$ begin\n  insert into jobs values ('@schema.x') end $$",
    "do $$ begin\n  insert into s.jobs values ('t.x') end $$",
  ],
  ["execute function notify()", "execute function s.notify()"],
  ["select '`', '$\u007bschema}', '\\'", "select '`', '$\u007bschema}', '\\'"],
])("%s", (sql, qualified) => {
  expect(inSchema(sql)).toBe(qualified);
});

it("leaves nothing where there is no schema", () => {
  expect(inSchema("select 1 from jobs where '@schema.jobs' = ''", "", "")).toBe(
    "select 1 from jobs where 'jobs' = ''",
  );
});
