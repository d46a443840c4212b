/** The result of the demo's task for a file. */
export interface FileReport {
  lines: number;
  words: number;
  /** Markdown headings; other files have none. */
  headings: number;
  /** The run of lines without a blank one that has the most words, and the number of its first line. */
  longestParagraph: { line: number; words: number };
}

export function reportOn(path: string, text: string): FileReport {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const isMarkdown = path.endsWith(".md");
  const report = { lines: lines.length, words: 0, headings: 0, longestParagraph: { line: 0, words: 0 } };
  let paragraph = { line: 1, words: 0 };
  let fenced = false;
  for (const [i, line] of lines.entries()) {
    const words = line.match(/\S+/g)?.length ?? 0;
    if (words === 0) paragraph = { line: i + 2, words: 0 };
    report.words += words;
    paragraph.words += words;
    if (paragraph.words > report.longestParagraph.words) report.longestParagraph = { ...paragraph };
    // A "#" in a code block is a comment, not a heading.
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    else if (isMarkdown && !fenced && /^#{1,6}\s/.test(line)) report.headings++;
  }
  return report;
}
