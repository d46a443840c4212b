// The public surface: its snapshot, its documentation and its changelog.

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { missingComments } from "../../scripts/surface/comments.ts";
import { withDeclared } from "../../scripts/surface/declared.ts";
import { changedNames, namesIn, parseNames } from "../../scripts/surface/names.ts";
import { fingerprint, printSurface } from "../../scripts/surface/print.ts";
import { hiddenTypes, unusedTypes } from "../../scripts/surface/questions.ts";

/** Steps of computing a type, which an editor shows resolved: no caller has a reason to name them. */
const COMPUTED = [
  "Definition",
  "InferInput",
  "IsAny",
  "JsonCompatible",
  "JsonResult",
  "ResultArgument",
  "Unwritable",
];

/** Types that only an application's own code mentions, and why it does. */
const FOR_APPLICATIONS: Readonly<Record<string, string>> = {
  "wadi FailEnvelope": "the form of `context.fail(reason)`, whose reason may be anything",
  "wadi SyncWadi": "the type of a variable",
  "wadi WadiOf": "the type of a variable",
};

let surface: string;
let hidden: string[];
let unused: string[];
let missing: string[];

beforeAll(() => {
  withDeclared((entries) => {
    surface = printSurface(entries);
    hidden = hiddenTypes(entries);
    unused = unusedTypes(entries);
    missing = missingComments(entries);
  });
});

test("the public surface is that of the snapshot: `npm run surface -- --write` after a change", () => {
  expect(surface).toBe(readFileSync("test/surface/surface.txt", "utf8"));
});

const unreleased = () => /^## \[Unreleased\]\n(.*?)^## \[/ms.exec(readFileSync("CHANGELOG.md", "utf8"))![1]!;

test("each name that was added or removed since the last release is in the changelog under Unreleased", () => {
  const released = parseNames(readFileSync("test/surface/released.txt", "utf8"));
  const code = unreleased()
    .match(/`[^`]+`/g)!
    .join(" ");
  const words = new Set(code.match(/[\w$/-]+/g));
  const silent = changedNames(released, namesIn(surface)).filter(
    (path) => !words.has(path.split(/ |\./).at(-1)!),
  );
  expect(silent).toEqual([]);
});

test("a change of the surface changes the changelog: its section Unreleased holds the surface's fingerprint", () => {
  expect(unreleased()).toContain(`<!-- surface ${fingerprint(surface)} -->`);
});

test("each type that a public signature mentions is exported", () => {
  const named = hidden.filter((mention) => !COMPUTED.some((name) => mention.includes(`-> ${name} (`)));
  expect(named).toEqual([]);
});

test("each exported type is that of something an application calls, or says why not", () => {
  expect(unused.sort()).toEqual(Object.keys(FOR_APPLICATIONS));
});

test("each export is documented: its meaning, the defaults of options, and an example of each function", () => {
  expect(missing).toEqual([]);
});

test("no line of the snapshot is longer than 120 columns", () => {
  expect(surface.split("\n").filter((line) => line.length > 120)).toEqual([]);
});
