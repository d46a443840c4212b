/** The links of every Markdown page lead somewhere, and the paths that it names exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";

const exclude = ["node_modules/**", "dist/**", ".tmp/**"];
const pages = globSync("**/*.md", { exclude }).sort();
const names = new Set(globSync("**/*.*", { exclude }).map((file) => posix.basename(file)));
const read = (page: string) => readFileSync(page, "utf8");

/** The text without its code blocks. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");

/** The fragments that a page's headings have on GitHub. */
function fragments(page: string): Set<string> {
  const headings = [...prose(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/\s/g, "-"),
    ),
  );
}

/** `target` of each relative link whose file or heading does not exist. */
function brokenLinks(page: string): string[] {
  const links = [...prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path, fragment] = target.split("#");
      const file = path === "" ? page : posix.join(posix.dirname(page), path!);
      if (!existsSync(file)) return true;
      return fragment !== undefined && !fragments(file).has(fragment);
    });
}

const ROOTED = /^(?:src|test|testing|scripts|bench|docs|protocol|functions|examples)(?:\/|$)/;
const NAME_OF_A_FILE = /^[\w.-]+\.(?:ts|sql|json|md|toml)$/;

/**
 * Words in backticks that are paths of this repository and do not exist: from its root, or a bare file name that stands
 * for a file anywhere, such as the neighbour of a file that was just named. `<` is a placeholder.
 */
function missingPaths(page: string): string[] {
  const words = [...prose(read(page)).matchAll(/`([^`\n]+)`/g)].map(([, word]) => word!);
  return words.filter((word) => {
    if (word.includes("<")) return false;
    if (ROOTED.test(word)) return !existsSync(word);
    return NAME_OF_A_FILE.test(word) && !names.has(word);
  });
}

test("the pages are found", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/worker.md", "protocol/PROTOCOL.md"]));
});

describe.each(pages)("%s", (page) => {
  test("has no broken link", () => {
    expect(brokenLinks(page)).toEqual([]);
  });

  test("has footnotes for its references, and references to its footnotes", () => {
    const text = prose(read(page));
    const notes = [...text.matchAll(/^\[\^(\w+)\]: /gm)].map(([, name]) => name);
    const references = [...text.matchAll(/\[\^(\w+)\](?!:)/g)].map(([, name]) => name);
    expect([...new Set(references)].sort()).toEqual(notes.sort());
  });
});

test.each(pages.filter((page) => /^(?:[A-Z]+\.md|docs\/decisions\/)/.test(page) && page !== "CHANGELOG.md"))(
  "the paths in %s exist",
  (page) => {
    expect(missingPaths(page)).toEqual([]);
  },
);

test("the README has at most 200 lines, and a decision at most 40", () => {
  const lines = (page: string) => read(page).trimEnd().split("\n").length;
  expect(lines("README.md")).toBeLessThanOrEqual(200);
  const decisions = pages.filter((page) => page.startsWith("docs/decisions/"));
  expect(decisions.length).toBeGreaterThan(5);
  expect(decisions.filter((page) => lines(page) > 40)).toEqual([]);
});
