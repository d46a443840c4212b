// Turns of the event loop on every platform.

import { spawnSync } from "node:child_process";
import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { expect, it } from "vitest";

async function bundle(contents: string): Promise<string> {
  const stdin = { contents, resolveDir: import.meta.dirname, loader: "ts" as const };
  const built = await build({ stdin, bundle: true, format: "iife", platform: "neutral", write: false });
  return built.outputFiles[0]!.text;
}

const NEXT_TURN = 'import { nextTurn } from "../../../src/worker/drain/next-turn.ts";\n';

it("a worker's turns do not make Node load its fetch client", async () => {
  const run = `
    import Database from "better-sqlite3";
    import { betterSqlite3 } from "./src/drivers/better-sqlite3.ts";
    import { Wadi, Worker } from "./src/index.ts";
    import { nextTurn } from "./src/worker/drain/next-turn.ts";
    const wadi = new Wadi(betterSqlite3(new Database(":memory:")));
    await wadi.submitMany("t", Array.from({ length: 20 }, (_, i) => ({ payload: i })));
    const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
    const { succeeded } = await new Worker(wadi).task("t", pause).drain({ budgetMs: 10_000 });
    await nextTurn();
    const loaded = process.moduleLoadList.filter((name) => /undici/.test(name));
    console.log(JSON.stringify({ succeeded, loaded }));`;
  const args = ["--input-type=module-typescript", "--eval", run];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).not.toContain("Error");
  expect(JSON.parse(stdout)).toEqual({ succeeded: 20, loaded: [] });
});

it.each([
  ["define both to refuse them", "function () { throw new Error('not supported here'); }"],
  ["have neither", "undefined"],
])("a turn comes on platforms without setImmediate and MessageChannel that %s", async (_how, stub) => {
  const code = await bundle(`${NEXT_TURN}globalThis.turns = Promise.all([nextTurn(), nextTurn()]);`);
  const vm = new EdgeVM();
  vm.evaluate(`globalThis.setImmediate = ${stub}; globalThis.MessageChannel = ${stub};`);
  vm.evaluate(code);
  await expect(vm.evaluate("turns")).resolves.toHaveLength(2);
});

it("a turn comes on a platform whose globals cannot even be read", async () => {
  const vm = new EdgeVM();
  vm.evaluate(`for (const name of ["setImmediate", "MessageChannel"])
    Object.defineProperty(globalThis, name, { get() { throw new Error(name); } });`);
  vm.evaluate(await bundle(`${NEXT_TURN}globalThis.turn = nextTurn();`));
  await expect(vm.evaluate("turn")).resolves.toBeUndefined();
});

it("a drain runs its handlers on a platform that refuses both", async () => {
  const code = await bundle(`
    import { Wadi, Worker } from "../../../src/index.ts";
    globalThis.drain = async (executor) => {
      const wadi = new Wadi(executor);
      await wadi.submitMany("t", Array.from({ length: 30 }, (_, i) => ({ payload: i })));
      const worker = new Worker(wadi).task("t", () => new Promise((resolve) => setTimeout(resolve, 1)));
      return (await worker.drain({ budgetMs: 10_000 })).succeeded;
    };`);
  const { betterSqlite3 } = await import("../../../src/drivers/better-sqlite3.ts");
  const { default: Database } = await import("better-sqlite3");
  const vm = new EdgeVM();
  vm.evaluate(`for (const name of ["setImmediate", "MessageChannel"])
    Object.defineProperty(globalThis, name, { get: () => () => { throw new Error(name); } });`);
  vm.evaluate(code);
  const drain = vm.evaluate("drain") as (executor: unknown) => Promise<number>;
  expect(await drain(betterSqlite3(new Database(":memory:")))).toBe(30);
});
