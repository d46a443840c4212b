/**
 * A test's SQL for the search path, with the names of its tasks, keys and failures in a schema, if one is
 * given.
 */
export function inSchema(sql: string, schema: string | undefined): string {
  if (schema === undefined) return sql;
  return sql.replace(
    /\b(cairnq_tasks|cairnq_task_keys|wadi_failures)\b/g,
    `"${schema.replaceAll('"', '""')}".$1`,
  );
}
