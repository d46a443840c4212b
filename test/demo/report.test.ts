// The report that the demo makes of a text file.

import { describe, expect, it } from "vitest";
import { reportOn } from "../../examples/demo/report.ts";

describe("the demo's report on a file", () => {
  it("counts lines, words, headings, and finds the paragraph with the most words", () => {
    const text = "# Title\n\none two\nthree\n\n```sh\n# a comment\n```\n\n## End\n";
    expect(reportOn("a.md", text)).toEqual({
      lines: 10,
      words: 12,
      headings: 2,
      longestParagraph: { line: 6, words: 5 },
    });
  });

  it("finds no headings outside of Markdown", () => {
    expect(reportOn("a.ts", "# x\n").headings).toBe(0);
  });

  it("is all zeros for an empty file", () => {
    expect(reportOn("a.md", "")).toEqual({
      lines: 0,
      words: 0,
      headings: 0,
      longestParagraph: { line: 0, words: 0 },
    });
  });

  it("takes CRLF as one line end", () => {
    expect(reportOn("a.md", "one\r\n\r\ntwo three\r\n")).toMatchObject({
      lines: 3,
      longestParagraph: { line: 3, words: 2 },
    });
  });
});
