// The OpenTelemetry hooks in an edge runtime.

import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { expect, test } from "vitest";

/** With the API's own code, and without an SDK. */
const SOURCE = `import { openTelemetry } from "../../src/opentelemetry/index.ts";
globalThis.run = async () => {
  const { producer, worker } = openTelemetry({ baggage: true });
  const task = { id: "task_1", name: "mail", queue: "out", attempt: 1 };
  const metadata = producer.metadata(task);
  worker.onEvent({ ...task, type: "claimed", queuedMs: 1 });
  worker.onEvent({ ...task, type: "started", queuedMs: 1 });
  const result = await worker.around([{ task: { ...task, metadata } }], async () => 42);
  worker.onEvent({ ...task, type: "succeeded", queuedMs: 1, durationMs: 1 });
  return JSON.stringify({ metadata, result });
};`;

test("a bundle in the bare edge VM runs without an SDK, and uses nothing of Node", async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    format: "iife",
    platform: "neutral",
    mainFields: ["module", "main"],
    write: false,
  });
  const code = outputFiles[0]!.text;
  for (const foreign of [
    /["']node:/,
    /(?<!\.)\bprocess\s*[.[]/,
    /\bBuffer\b/,
    /\beval\s*\(/,
    /\bnew Function\b/,
    /\brequire\s*\(/,
  ])
    expect(code).not.toMatch(foreign);
  const vm = new EdgeVM();
  vm.evaluate(code);
  const { run } = vm.context as unknown as { run(): Promise<string> };
  expect(JSON.parse(await run())).toEqual({ metadata: {}, result: 42 });
});
