// Scripts write only files that change.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { writeChanged } from "../../scripts/write-changed.ts";

it("writes a file that changes and says so, and says that another has not changed", () => {
  const folder = mkdtempSync(join(tmpdir(), "wadi-write-"));
  const file = join(folder, "ceilings.json");
  writeFileSync(file, "1\n");
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  writeChanged(file, "1\n");
  expect(said).toHaveBeenLastCalledWith(expect.stringMatching(/ceilings\.json has not changed$/));
  writeChanged(file, "2\n");
  expect(said).toHaveBeenLastCalledWith(expect.stringMatching(/^wrote .*ceilings\.json$/));
  expect(readFileSync(file, "utf8")).toBe("2\n");
  said.mockRestore();
  rmSync(folder, { recursive: true });
});
