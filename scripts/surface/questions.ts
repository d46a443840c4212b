// Finds mistakes in a public surface: types that it mentions but does not export, and types that it exports without
// a use.
import { SyntaxKind } from "typescript/unstable/ast";
import type { DeclaredEntry, Exported } from "./declared.ts";

/** Each mention of a type that no entry point exports, as `entry point name -> type (file)`. */
export function hiddenTypes(entries: readonly DeclaredEntry[]): string[] {
  const exported = new Set(entries.flatMap(({ exports }) => exports.map(({ id }) => id)));
  return entries.flatMap((entry) =>
    entry.exports.flatMap(({ name, mentions }) =>
      mentions
        .filter(({ id }) => !exported.has(id))
        .map((mention) => `${entry.name} ${name} -> ${mention.name} (${mention.file})`),
    ),
  );
}

/** Each exported type that no exported class, function or constant leads to, as `entry point name`. */
export function unusedTypes(entries: readonly DeclaredEntry[]): string[] {
  const all = new Map(entries.flatMap(({ exports }) => exports.map((each) => [each.id, each] as const)));
  const reached = new Set<number>();
  const reach = (id: number) => {
    if (reached.has(id)) return;
    reached.add(id);
    for (const mention of all.get(id)?.mentions ?? []) reach(mention.id);
  };
  for (const each of all.values()) if (isValue(each)) reach(each.id);
  return entries.flatMap((entry) =>
    entry.exports.filter(({ id }) => !reached.has(id)).map(({ name }) => `${entry.name} ${name}`),
  );
}

const VALUES = new Set([
  SyntaxKind.ClassDeclaration,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.VariableDeclaration,
]);

const isValue = ({ declarations }: Exported): boolean => declarations.some(({ kind }) => VALUES.has(kind));
