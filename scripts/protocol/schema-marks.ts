/**
 * Marks in compiled SQL for Postgres where the name of a schema belongs, so that no pattern runs over SQL at run time.
 *
 * In code that is before each name of a table or function. In a string it is where the source says `@schema.`, because
 * only the source knows whether the string is such a name.
 */
import { tokenize } from "./sql-text.ts";

/** Stands for the schema's name and a dot, and for the same within a string. No SQL contains these characters. */
const NAME = "\u0001";
const IN_STRING = "\u0002";

const CREATES = /\bcreate (?:or replace )?(?:table|function) (?:if not exists )?(\w+)/g;

/** SQL in which each name of a table or function that `script` creates is marked. */
export function marksFor(script: readonly string[]): (sql: string) => string {
  const names = new Set(script.flatMap((sql) => [...sql.matchAll(CREATES)].map(([, name]) => name)));
  const pattern = new RegExp(`\\b(?:${[...names].join("|")})\\b`, "g");
  return function mark(sql: string): string {
    return tokenize(sql)
      .map(({ kind, text }) => {
        if (kind === "code") return text.replace(pattern, `${NAME}$&`);
        if (text.startsWith("'")) return text.replaceAll("@schema.", IN_STRING);
        const [dollars] = /^\$[a-z_]*\$/.exec(text) ?? [""]; // what they quote is code
        return dollars === "" ? text : dollars + mark(text.slice(dollars.length, -dollars.length)) + dollars;
      })
      .join("");
  };
}

const placeholder = (name: string) => `\${${name}}`;

/** Marked SQL as a template literal, with the variables `schema` and `schemaInString` at the marks. */
export function templateOf(marked: string): string {
  const text = marked
    .replace(/[\\`]|\$(?=\{)/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll(NAME, placeholder("schema"))
    .replaceAll(IN_STRING, placeholder("schemaInString"));
  return `\`${text}\``;
}
