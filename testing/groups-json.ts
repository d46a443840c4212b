/** The parameter of `insert_tasks` for single tasks: each is a group. */
export function groupsJson(tasks: readonly { readonly id: string; readonly payload?: unknown }[]): string {
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  return JSON.stringify(
    tasks.map(({ id, payload = null, ...group }) => ({
      ...group,
      tasks: { [id]: isObject(payload) ? payload : [payload] },
    })),
  );
}
