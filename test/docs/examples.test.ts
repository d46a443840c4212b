import { describe, expect, test } from "vitest";
import { documents, examplesOf, extract, run, typeErrors } from "../../testing/doc-examples.ts";

const examples = documents().flatMap(examplesOf);

test("the documents have examples", () => {
  expect(documents()).toEqual(expect.arrayContaining(["README.md", "docs/drivers.md"]));
  expect(examples.length).toBeGreaterThan(10);
});

test("every example compiles", () => {
  expect(typeErrors(examples)).toEqual([]);
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
