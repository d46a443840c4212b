/** Reads SQL as text: which part of it is code, which is quoted, and where a statement ends. */

/** A part of SQL: code, or text in which parameters and names have no meaning. */
export interface Token {
  readonly kind: "code" | "quoted" | "comment";
  readonly text: string;
}

const OPAQUE = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$[a-z_]*\$)[\s\S]*?\1/giy;

/** Cuts SQL into code, quoted text (strings, identifiers, dollar quotes) and comments. */
export function tokenize(sql: string): Token[] {
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

/** The same SQL with its code replaced and its quoted text as it is. */
export function mapCode(sql: string, replace: (code: string) => string): string {
  return tokenize(sql)
    .map(({ kind, text }) => (kind === "code" ? replace(text) : text))
    .join("");
}

/** SQL without its comments. */
export function withoutComments(sql: string): string {
  return tokenize(sql)
    .map(({ kind, text }) => (kind === "comment" ? "" : text))
    .join("");
}

/** SQL without its comments, and with each run of white space outside of quotes as one space. */
export function compact(sql: string): string {
  const fold = (code: string) => code.replace(/\s+/g, " ").replace(/\( /g, "(").replace(/ \)/g, ")");
  return mapCode(withoutComments(sql), fold).trim();
}

/** The statements of a script, each compact. A trigger of SQLite holds statements up to a line `end;`. */
export function splitStatements(sql: string): string[] {
  const statements = [""];
  for (const { kind, text } of tokenize(withoutComments(sql))) {
    const [first = "", ...rest] = kind === "code" ? text.split(";") : [text];
    statements[statements.length - 1] += first;
    for (const part of rest) {
      if (OPEN_TRIGGER.test(statements.at(-1)!)) statements[statements.length - 1] += `;${part}`;
      else statements.push(part);
    }
  }
  return statements.map(compact).filter((statement) => statement !== "");
}

const OPEN_TRIGGER = /^\s*create trigger\b[\s\S]*\nbegin\n(?![\s\S]*\nend$)/;
