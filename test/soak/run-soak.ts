import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs the soak to its end, and returns its exit code, its report and the result in its last line. */
export async function runSoak(...options: string[]) {
  const args = ["scripts/soak.ts", ...options, "--json"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const [code] = await once(child, "close");
  return { code, output, result: JSON.parse(output.trimEnd().split("\n").at(-1)!) };
}
