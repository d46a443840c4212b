/** The parameter of `insert_tasks` for tasks that are given one by one: a group each. */
export function groupsJson(tasks: readonly { readonly id: string; readonly payload?: unknown }[]): string {
  return JSON.stringify(
    tasks.map(({ id, payload, ...group }) => ({ ...group, tasks: { [id]: payload ?? null } })),
  );
}
