// Holds the language of the project: a list of private or archaic words that no reader should have to decode.

import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Each with the words to write instead. */
const BANNED: Readonly<Record<string, RegExp>> = {
  "told, tell (notify, report, distinguish)": /\b(?:told|tells?|telling)\b/i,
  "nobody, somebody, whoever (the caller, another worker, the waiter)": /\b(?:nobody|somebody|whoever)\b/i,
  "hungry (may have due tasks)": /\bhungry\b/i,
  "in hand, in play (held, in flight)": /\bin (?:hand|play)\b/i,
  "hand back, put back (release)": /\b(?:hand|put)(?:s|ed|ing)? (?:\w+ )?back\b/i,
  "of its own, of yours (dedicated, separate, your)":
    /\bof (?:(?:its|their|one's|an application's) own|yours)\b/i,
  "beside (in addition to, next to)": /\bbeside\b/i,
  "but for (except)": /\bbut for\b/i,
  "ran out, of a lease (expired)": /\bleases? (?:ran|runs?|that run|has run|have run|had run) out\b/i,
  "a look, of a poll (poll)": /\b(?:a|the|each|every|next|this|first|last) looks?\b/i,
  "survive (recover, continue, keep)": /\bsurviv(?:e|es|ed|ing)\b/i,
  "hear, heard (be notified)": /\b(?:hears?|heard|hearing)\b/i,
  "befall, mishap, complaint (inject a fault, fault, error)": /\b(?:befalls?|mishaps?|complaints?)\b/i,
  "anew, lest, thereby, hence (again, so that)": /\b(?:anew|lest|thereby|wherein|whereof|hence)\b/i,
};

/** Where a word has its usual meaning. */
const ALLOWED: readonly { readonly file: string; readonly text: string; readonly reason: string }[] = [
  {
    file: "testing/postgres-program.ts",
    text: 'execFileSync("id", [flag, "nobody"]',
    reason: "the name of the user without rights on Unix",
  },
];

const THIS_FILE = "test/words.test.ts";
const FILES = globSync(
  [
    "*.md",
    "{docs,functions,examples,protocol}/**/*.md",
    "{src,test,testing,scripts,bench,functions,examples}/**/*.ts",
    "protocol/**/*.sql",
    "*.toml",
  ],
  { exclude: ["**/node_modules/**", "**/generated/**", "src/protocol/**", THIS_FILE] },
);

const linesOf = (file: string) => readFileSync(file, "utf8").split("\n");
const isAllowed = (file: string, line: string) =>
  ALLOWED.some((allowed) => allowed.file === file && line.includes(allowed.text));

/** `told` in `toldQueues`, `TOLD_FIRST` and `told-first` is a word, too. */
const separateWords = (line: string) => line.replace(/([a-z])(?=[A-Z])/g, "$1 ").replaceAll("_", " ");

/** `place: the words to write instead: the line` for each line with a banned word. */
function bannedIn(file: string, line: string, at: number): string[] {
  if (isAllowed(file, line)) return [];
  return Object.entries(BANNED)
    .filter(([, word]) => word.test(separateWords(line)))
    .map(([rule]) => `${file}:${at + 1}: ${rule}: ${line.trim().slice(0, 100)}`);
}

it("no banned word stands in names, comments, messages, titles of tests and documentation", () => {
  expect(FILES.length).toBeGreaterThan(500);
  expect(FILES.flatMap((file) => linesOf(file).flatMap((line, at) => bannedIn(file, line, at)))).toEqual([]);
});

it("each exception is still needed", () => {
  const unused = ALLOWED.filter(({ file, text }) => !linesOf(file).some((line) => line.includes(text)));
  expect(unused).toEqual([]);
});

it("a banned word is found in a sentence and within a name", () => {
  const lines = [
    "// Told first.",
    "const toldQueues = [];",
    "the lease ran out",
    "LEASES_TOLD",
    "retold, hearth",
  ];
  expect(lines.map((line) => bannedIn("a.ts", line, 0).length)).toEqual([1, 1, 1, 1, 0]);
});
