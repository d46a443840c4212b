/** Lines up columns: the first row is the heading, numbers stand at the right, null shows as "-". */
export function textTable(rows: readonly (readonly (string | number | null)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? "-" : String(cell))));
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const left = (column: number) => rows.some((row, i) => i > 0 && typeof row[column] === "string");
  return cells
    .map((row) =>
      row
        .map((cell, i) => (left(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
