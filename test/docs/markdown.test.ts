/** Every Markdown page is readable as text, its links lead somewhere, and the paths that it names exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";

const COLUMNS = 120;
/** Pages that are being rewritten. */
const WIDE = ["CHANGELOG.md", "protocol/PROTOCOL.md"];
const exclude = ["node_modules/**", "dist/**", ".tmp/**"];
const pages = globSync("**/*.md", { exclude }).sort();
const files = new Set(globSync("**/*", { exclude: [...exclude, ".git/**"] }));
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

/** Words in backticks that are paths of this repository: with a slash or an extension, without a placeholder. */
function missingPaths(page: string): string[] {
  const words = [...prose(read(page)).matchAll(/`([^`\n]+)`/g)].map(([, word]) => word!);
  const roots = "src|test|testing|scripts|bench|docs|protocol|functions|examples";
  const paths = words.filter((word) =>
    new RegExp(`^(?:(?:${roots})(?:/|$)|[\\w.-]+\\.(?:json|md|toml)$)`).test(word),
  );
  return paths.filter((path) => {
    if (path.includes("<")) return false; // a pattern for paths
    if (path.includes("*")) return globSync(path).length === 0;
    return !files.has(path.replace(/\/$/, "")) && !existsSync(path);
  });
}

test("the pages are found", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/worker.md", "protocol/PROTOCOL.md"]));
});

describe.each(pages)("%s", (page) => {
  test.skipIf(WIDE.includes(page))(`has no line of more than ${COLUMNS} columns`, () => {
    const long = read(page)
      .split("\n")
      .flatMap((line, at) => ([...line].length > COLUMNS ? [at + 1] : []));
    expect(long).toEqual([]);
  });

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
