export interface TextStats {
  readonly lines: number;
  readonly words: number;
  readonly headings: number;
  /** Words of the longest paragraph. */
  readonly longestParagraph: number;
}

/** Counts what a Markdown text is made of. A paragraph is a run of lines that are neither blank, heading nor code. */
export function textStats(text: string): TextStats {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  let headings = 0;
  let words = 0;
  let paragraph = 0;
  let longestParagraph = 0;
  let inCode = false;
  for (const line of lines) {
    const isFence = /^\s*(```|~~~)/.test(line);
    const isHeading = !inCode && /^#{1,6}\s/.test(line);
    const count = line.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    words += count;
    headings += Number(isHeading);
    paragraph = inCode || isFence || isHeading || count === 0 ? 0 : paragraph + count;
    longestParagraph = Math.max(longestParagraph, paragraph);
    if (isFence) inCode = !inCode;
  }
  return { lines: lines.length, words, headings, longestParagraph };
}
