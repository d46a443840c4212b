// The public surface as text: one line for each exported name and each member of it, in a fixed order.
import { createHash } from "node:crypto";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import type { DeclaredEntry, Exported } from "./declared.ts";

const WIDTH = 120;

/** A longer declaration is inferred, such as the columns of a table: it is shown by its hash. */
const LONGEST = 900;

const HEAD = [
  "The public surface: every name that an entry point exports, with its members and their types.",
  "Written by `npm run surface -- --write`, compared by test/surface; a change needs a line in CHANGELOG.md.",
];

/** A name that several entry points export is declared under the first one. */
export function printSurface(entries: readonly DeclaredEntry[]): string {
  const homes = new Map<number, string>();
  const blocks = entries.map(({ name, exports }) => {
    const lines = [...exports].sort(byName).flatMap((exported) => {
      const home = homes.get(exported.id);
      if (home !== undefined) return [`  ${exported.name} (as in ${home})`];
      homes.set(exported.id, name);
      return print(exported);
    });
    return [name, ...lines].join("\n");
  });
  return `${[HEAD.join("\n"), ...blocks].join("\n\n")}\n`;
}

/** The fingerprint of a surface in the changelog: it changes whenever the text does. */
export function fingerprint(surface: string): string {
  return createHash("sha256").update(surface).digest("hex").slice(0, 12);
}

const byName = (one: Exported, other: Exported) => (one.name < other.name ? -1 : 1);

function print({ declarations }: Exported): string[] {
  return declarations.flatMap((node) => {
    if (!hasMembers(node)) return wrap(`  ${headOf(node)}`);
    const members = membersOf(node).map(textOf);
    return [...wrap(`  ${headOf(node)}`), ...members.flatMap((member) => wrap(`    ${member}`))];
  });
}

const hasMembers = ({ kind }: Node): boolean =>
  kind === SyntaxKind.ClassDeclaration || kind === SyntaxKind.InterfaceDeclaration;

function membersOf(node: Node): Node[] {
  const members: Node[] = [];
  node.forEachChild((child) => {
    if (MEMBERS.has(child.kind) && !/^#|^private /.test(child.getText())) members.push(child);
  });
  return members;
}

const MEMBERS = new Set([
  SyntaxKind.CallSignature,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.IndexSignature,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.PropertySignature,
  SyntaxKind.SetAccessor,
]);

/** The declaration without its members. */
function headOf(node: Node): string {
  if (node.kind === SyntaxKind.VariableDeclaration) return `const ${textOf(node)}`;
  if (!hasMembers(node)) return textOf(node);
  const first = node.getText().slice(0, node.getText().indexOf("{", endOfHeritage(node)));
  return plain(first);
}

/** Where the text of a class or interface has said what it is based on; a brace before that is a type's. */
function endOfHeritage(node: Node): number {
  let end = 0;
  node.forEachChild((child) => {
    if (HEAD_PARTS.has(child.kind)) end = child.end - node.getStart();
  });
  return end;
}

const HEAD_PARTS = new Set([SyntaxKind.Identifier, SyntaxKind.TypeParameter, SyntaxKind.HeritageClause]);

function textOf(node: Node): string {
  const text = plain(node.getText());
  if (text.length <= LONGEST) return text;
  return `${/^[^:<{]*/.exec(text)![0]}: … (sha256 ${fingerprint(text)})`;
}

/** Declarations hold no string with the marks of a comment. */
const plain = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
    .replace(/\s+/g, " ")
    .replace(/^(?:export |declare )+/, "")
    .replace(/= \| /, "= ")
    .replace(/;$/, "")
    .trim();

/** Lines of at most 120 columns; what continues one stands four columns further in. */
function wrap(line: string): string[] {
  const indent = `${/^ */.exec(line)![0]}    `;
  const lines: string[] = [];
  let rest = line;
  while (rest.length > WIDTH) {
    const at = rest.lastIndexOf(" ", WIDTH);
    if (at <= indent.length) break;
    lines.push(rest.slice(0, at));
    rest = indent + rest.slice(at + 1);
  }
  return [...lines, rest];
}
