// Finds what the comments of the public surface lack: a meaning, a default for each option, an example.
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import type { DeclaredEntry } from "./declared.ts";

/** Classes whose methods are what an application calls: each of them has an example. */
const MAIN = ["Wadi", "Worker"];
/** Parts of other packages' clients, which those packages document. */
const FOREIGN = /Like$|^Neon|^Pglite|^Libsql(?!Options)|^PgNotification$/;

/** What is missing, as `entry point name: what`. */
export function missingComments(entries: readonly DeclaredEntry[]): string[] {
  const seen = new Set<number>();
  const interfaces = new Map(
    entries.flatMap(({ exports }) =>
      exports.map(({ name, declarations }) => [name, declarations[0]!] as const),
    ),
  );
  return entries.flatMap((entry) =>
    entry.exports
      .filter(({ id }) => !seen.has(id) && seen.add(id))
      .flatMap(({ name, declarations }) => {
        const first = declarations[0]!;
        const missing = [
          ...missingOf(name, first),
          ...inherited(membersOf(first), first, interfaces).flatMap((each) => missingInMember(name, each)),
        ];
        return missing.map((what) => `${entry.name} ${what}`);
      }),
  );
}

function missingOf(name: string, node: Node): string[] {
  const comment = commentOf(node.kind === SyntaxKind.VariableDeclaration ? node.parent.parent : node);
  const needsExample =
    node.kind === SyntaxKind.FunctionDeclaration ||
    (node.kind === SyntaxKind.ClassDeclaration && !/ extends WadiError /.test(node.getText())) ||
    name === "TaskError" ||
    name === "fromDrizzle";
  return [
    ...(comment === "" ? [`${name}: a comment`] : []),
    ...(needsExample && !comment.includes("@example") ? [`${name}: an @example`] : []),
  ];
}

interface Member {
  readonly name: string;
  readonly text: string;
  readonly comment: string;
  readonly isMethod: boolean;
}

function missingInMember(owner: string, { name, text, comment, isMethod }: Member): string[] {
  const path = `${owner}.${name}`;
  if (comment === "") return FOREIGN.test(owner) ? [] : [`${path}: a comment`];
  const isOption = /Options$/.test(owner) && /^(readonly )?\w+\?:/.test(text);
  if (isOption && !comment.includes("@default")) return [`${path}: its @default`];
  return isMethod && MAIN.includes(owner) && !comment.includes("@example") ? [`${path}: an @example`] : [];
}

/** A method without a comment has that of the interface that its class implements, as editors show it. */
function inherited(members: readonly Member[], node: Node, interfaces: ReadonlyMap<string, Node>): Member[] {
  const names = /\bimplements ([^{]+)/.exec(node.getText().split("\n")[0]!)?.[1]?.split(",") ?? [];
  const parents = names.flatMap((name) => membersOf(interfaces.get(name.trim())!));
  return members.map((member) =>
    member.comment === "" ? (parents.find(({ name }) => name === member.name) ?? member) : member,
  );
}

const METHODS = new Set([SyntaxKind.MethodDeclaration, SyntaxKind.MethodSignature]);
const MEMBERS = new Set([...METHODS, SyntaxKind.PropertyDeclaration, SyntaxKind.PropertySignature]);

/** The members of a class or interface, an overloaded method once, with the comment of its first overload. */
function membersOf(node: Node): Member[] {
  const members = new Map<string, Member>();
  if (node.kind !== SyntaxKind.ClassDeclaration && node.kind !== SyntaxKind.InterfaceDeclaration) return [];
  node.forEachChild((child) => {
    const text = child.getText();
    const name = /^(?:(?:static|readonly|override) )*([\w$"~]+)/.exec(text)?.[1];
    // An error's `name` is that of its class.
    if (
      !MEMBERS.has(child.kind) ||
      name === undefined ||
      text.startsWith("readonly name = ") ||
      members.has(name)
    )
      return;
    members.set(name, { name, text, comment: commentOf(child), isMethod: METHODS.has(child.kind) });
  });
  return [...members.values()];
}

/** The comment before a declaration; empty if there is none. */
function commentOf(node: Node): string {
  const before = node.getSourceFile().text.slice(node.pos, node.getStart());
  return before.includes("/**") ? before : "";
}
