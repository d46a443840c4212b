/** A run of SQL that is either code or something a parameter can never stand in. */
interface Token {
  readonly kind: "code" | "quoted" | "comment";
  readonly text: string;
}

const OPAQUE = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$[a-z_]*\$)[\s\S]*?\1/giy;

/** Cuts SQL into code, quoted text (strings, identifiers, dollar quotes) and comments. */
function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let code = "";
  for (let at = 0; at < sql.length; ) {
    OPAQUE.lastIndex = at;
    const match = OPAQUE.exec(sql);
    if (match === null) {
      code += sql[at++];
      continue;
    }
    if (code !== "") tokens.push({ kind: "code", text: code });
    code = "";
    const comment = match[0].startsWith("--") || match[0].startsWith("/*");
    tokens.push({ kind: comment ? "comment" : "quoted", text: match[0] });
    at += match[0].length;
  }
  if (code !== "") tokens.push({ kind: "code", text: code });
  return tokens;
}

/** Drops comments and folds white space outside of quotes. */
function compact(tokens: readonly Token[]): Token[] {
  return tokens
    .filter((token) => token.kind !== "comment")
    .map((token) =>
      token.kind === "code"
        ? {
            kind: token.kind,
            text: token.text.replace(/\s+/g, " ").replace(/\( /g, "(").replace(/ \)/g, ")"),
          }
        : token,
    );
}

/** Replaces each `:name` with what `placeholder` returns for it. `::type` casts stay. */
export function compileStatement(sql: string, placeholder: (name: string) => string): string {
  return compact(tokenize(sql))
    .map((token) =>
      token.kind === "code"
        ? token.text.replace(/::|:([a-z_][a-z0-9_]*)/g, (all, name?: string) =>
            name ? placeholder(name) : all,
          )
        : token.text,
    )
    .join("")
    .trim();
}

/** Splits a script into its statements, without comments. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let current = "";
  for (const token of compact(tokenize(sql))) {
    if (token.kind === "quoted") {
      current += token.text;
      continue;
    }
    const [first = "", ...rest] = token.text.split(";");
    current += first;
    for (const part of rest) {
      statements.push(current.trim());
      current = part;
    }
  }
  statements.push(current.trim());
  return statements.filter((statement) => statement !== "");
}
