// Reads what the package's entry points export from its declarations, with the compiler's own view of every name.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import { API, type Project, SymbolFlags, type Symbol as TypeSymbol } from "typescript/unstable/sync";
import { declare, type EntryPoint, entryPoints } from "../build/declarations.ts";

const ROOT = join(import.meta.dirname, "../..");

/** An exported name and all of its declarations: a function has one for each overload. */
export interface Exported {
  readonly name: string;
  readonly id: number;
  readonly declarations: readonly Node[];
  /** The declarations of this package that it mentions, but not what it is declared in. */
  readonly mentions: readonly Mention[];
}

export interface Mention {
  readonly id: number;
  readonly name: string;
  /** The file that declares it, from the root of the declarations. */
  readonly file: string;
}

export interface DeclaredEntry extends EntryPoint {
  readonly exports: readonly Exported[];
}

/**
 * Declares the package into a folder that lives as long as `read` runs, and passes it the exports of the entry
 * points.
 */
export function withDeclared<T>(read: (entries: readonly DeclaredEntry[]) => T): T {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".tmp/surface-"));
  const api = new API({ cwd: folder });
  try {
    declare(folder);
    const config = { extends: "../../tsconfig.json", compilerOptions: { types: [] }, include: ["**/*.d.ts"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const project = api.updateSnapshot({ openProjects: [join(folder, "tsconfig.json")] }).getProjects()[0]!;
    return read(entryPoints().map((entry) => ({ ...entry, exports: exportsOf(entry, project, folder) })));
  } finally {
    api.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function exportsOf({ path }: EntryPoint, project: Project, folder: string): Exported[] {
  const { checker, program } = project;
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(folder, `${path}.d.ts`))!)!;
  return checker.getExportsOfModule(module).map((exported) => {
    const symbol = target(exported, project);
    const declarations = declarationsOf(symbol, project);
    const mentions = declarations.flatMap((node) => mentionsOf(node, project, folder));
    return {
      name: exported.name,
      id: symbol.id,
      declarations,
      mentions: unique(mentions.filter(({ id }) => id !== symbol.id)),
    };
  });
}

/** What a name stands for: itself, or what an import or re-export of it leads to. */
function target(symbol: TypeSymbol, { checker }: Project): TypeSymbol {
  return (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

const declarationsOf = (symbol: TypeSymbol, project: Project): Node[] =>
  symbol.declarations.map((handle) => handle.resolve(project)!);

function mentionsOf(declaration: Node, project: Project, folder: string): Mention[] {
  const symbols = project.checker.getSymbolAtLocation(identifiers(declaration));
  return symbols.flatMap((symbol) => {
    if (symbol === undefined) return [];
    const meant = target(symbol, project);
    const declared = declarationsOf(meant, project).find(isTopLevel);
    const file = declared === undefined ? ".." : relative(folder, sourceFile(declared).fileName);
    return file.startsWith("..") ? [] : [{ id: meant.id, name: meant.name, file }];
  });
}

function identifiers(node: Node): Node[] {
  const found: Node[] = node.kind === SyntaxKind.Identifier ? [node] : [];
  node.forEachChild((child) => {
    found.push(...identifiers(child));
  });
  return found;
}

/** Whether a declaration stands in its file by itself, and not within another one as a member or parameter does. */
function isTopLevel(node: Node): boolean {
  let parent = node.parent;
  while (parent.kind === SyntaxKind.VariableDeclarationList || parent.kind === SyntaxKind.VariableStatement) {
    parent = parent.parent;
  }
  return parent.kind === SyntaxKind.SourceFile;
}

const sourceFile = (node: Node): SourceFile => node.getSourceFile();

const unique = (mentions: readonly Mention[]): Mention[] => [
  ...new Map(mentions.map((mention) => [mention.id, mention])).values(),
];
