import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

test("workers that serve lose nothing while peers are killed, Postgres restarts and the disk fills up", {
  timeout: 180_000,
}, async () => {
  const args = ["scripts/soak.ts", "--minutes", "0.35", "--rate", "30", "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  const result = JSON.parse(output.trimEnd().split("\n").at(-1)!);
  expect(result).toMatchObject({ violations: [], lost: 0, settledTwice: 0, isFlat: true });
  expect(code).toBe(0);
  expect(result.succeeded).toBe(result.submitted);
  expect(result.submitted).toBeGreaterThan(200);
  expect(result.kills).toBeGreaterThan(2);
  expect([result.restarts, result.diskFull]).toEqual([2, 4]);
});
