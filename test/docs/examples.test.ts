// The examples of the documentation and of docstrings compile and run.

import { describe, expect, test } from "vitest";
import { documents, examplesOf, extract, run, typeErrors } from "../../testing/doc-examples.ts";
import { EXAMPLE_GLOBALS, examplesIn, sourceExamples } from "../../testing/source-examples.ts";

const examples = documents().flatMap(examplesOf);

test("the documents have examples", () => {
  expect(documents()).toEqual(expect.arrayContaining(["README.md", "docs/drivers.md"]));
  expect(examples.length).toBeGreaterThan(10);
});

test("every example compiles", () => {
  expect(typeErrors(examples)).toEqual([]);
});

test("every @example of the source compiles", () => {
  expect(sourceExamples().length).toBeGreaterThan(5);
  expect(typeErrors(sourceExamples(), EXAMPLE_GLOBALS)).toEqual([]);
});

test("a wrong @example is found, at its line of the source", () => {
  const source =
    "/**\n * Waits.\n *\n * @example\n * ```ts\n * await wadi.wait(5);\n * ```\n * @throws never\n */\n";
  const errors = typeErrors(examplesIn("src/wrong.ts", source), EXAMPLE_GLOBALS);
  expect(errors[0]).toMatch(/^wrong-3\.ts\(6,\d+\): error TS2769/);
});

describe("every whole program runs", () => {
  test.each(examples.filter(({ runs }) => runs))("$document:$line", (example) => {
    expect(run(example)).toMatchObject({ status: 0 });
  });
});

test("a wrong example is found, at its line of the document", () => {
  const wrong = extract("README.md", 'text\n\n```ts\nimport { Wadi } from "wadi";\nnew Wadi(5);\n```\n');
  const errors = typeErrors(wrong);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(/^README-3\.ts\(5,10\): error TS2345/);
  const [unknown] = extract("README.md", '```ts\nimport { Wade } from "wadi";\nconsole.log(Wade);\n```\n');
  expect(typeErrors([unknown!])[0]).toMatch(/Wade/);
  const [failing] = extract("README.md", '```ts run\nthrow new Error("no");\n```\n');
  expect(run(failing!)).toMatchObject({ status: 1, output: expect.stringContaining("no") });
});
