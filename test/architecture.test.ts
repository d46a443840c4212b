// Holds the structure: which room may import which, no circles, Web globals only, and no file too long.

import { describe, expect, it } from "vitest";
import { entryPoints } from "../scripts/build/declarations.ts";
import { filesOf, type Import, importCycles, importsOf, read } from "../testing/imports.ts";

/** `file -> target` for each import that `allows` does not. */
function violations(room: string, allows: (imported: Import) => boolean): string[] {
  return filesOf(room).flatMap((file) =>
    importsOf(file)
      .filter((imported) => !allows(imported))
      .map(({ target, isType }) => `${file} -> ${isType ? "type " : ""}${target}`),
  );
}

const isIn = (target: string, ...rooms: string[]) => rooms.some((room) => target.startsWith(`src/${room}/`));
const isPackage = (target: string) =>
  !/^(src|functions|test|testing|scripts|bench|examples|docs|protocol)\//.test(target);

describe("imports go one way", () => {
  it("never in a circle, those of types included", () => {
    expect(importCycles(["src", "functions", "testing", "scripts", "bench", "examples"])).toEqual([]);
  });

  it("within the worker from run/ to drain/ to handler/", () => {
    const inRooms = (...rooms: string[]) => rooms.map((room) => `worker/${room}`);
    expect(
      violations("src/worker/handler", ({ target }) => !isIn(target, ...inRooms("drain", "run"))),
    ).toEqual([]);
    expect(violations("src/worker/drain", ({ target }) => !isIn(target, ...inRooms("run")))).toEqual([]);
  });

  it("no script, benchmark, example or part of the harness imports a test", () => {
    const rooms = ["testing", "scripts", "bench", "examples", "functions", "src"];
    const allows = ({ target }: Import) => !target.startsWith("test/");
    expect(rooms.flatMap((room) => violations(room, allows))).toEqual([]);
  });

  it("finds them", () => {
    expect(filesOf("src/core").length).toBeGreaterThan(20);
    expect(importsOf("src/index.ts")).toContainEqual({
      target: "src/core/errors/errors.ts",
      isType: false,
    });
    expect(importsOf("src/drivers/d1.ts")).toContainEqual({ target: "src/core/executor.ts", isType: true });
    expect(importsOf("functions/vercel/database.ts")).toContainEqual({
      target: "@libsql/client",
      isType: false,
    });
  });

  it("core imports core", () => {
    expect(violations("src/core", ({ target }) => isIn(target, "core"))).toEqual([]);
  });

  it("the compiled protocol imports its type", () => {
    const allows = ({ target, isType }: Import) => isType && target === "src/core/protocol.ts";
    expect(violations("src/protocol", allows)).toEqual([]);
  });

  it("drivers import each other, their SQL, and of core executor types, argument errors and causes", () => {
    const allows = ({ target, isType }: Import) =>
      isIn(target, "drivers", "protocol") ||
      (isType && target === "src/core/executor.ts") ||
      ["src/core/errors/wadi-error.ts", "src/core/errors/causes.ts"].includes(target);
    expect(violations("src/drivers", allows)).toEqual([]);
    expect(importsOf("src/core/errors/wadi-error.ts")).toEqual([]);
  });

  it("schedules imports itself, core, and croner in one file, when it is needed", () => {
    const allows = ({ target }: Import) => isIn(target, "schedules", "core") || target === "croner";
    expect(violations("src/schedules", allows)).toEqual([]);
    const users = filesOf("src").filter((file) => /["']croner["']/.test(read(file)));
    expect(users).toEqual(["src/schedules/cron-slots.ts"]);
    expect(read("src/schedules/cron-slots.ts")).toContain('await import("croner")');
  });

  it("the producer imports itself, schedules and core", () => {
    const allows = ({ target }: Import) => isIn(target, "producer", "schedules", "core");
    expect(violations("src/producer", allows)).toEqual([]);
  });

  it("the worker imports itself, the producer, schedules and core", () => {
    const allows = ({ target }: Import) => isIn(target, "worker", "producer", "schedules", "core");
    expect(violations("src/worker", allows)).toEqual([]);
  });

  it("http imports itself, the worker, the producer and core", () => {
    const allows = ({ target }: Import) => isIn(target, "http", "worker", "producer", "core");
    expect(violations("src/http", allows)).toEqual([]);
  });

  it("drizzle imports itself, the drivers it unwraps to, core's types and errors, and Drizzle", () => {
    const allows = ({ target, isType }: Import) =>
      isIn(target, "drizzle", "drivers") ||
      (isType && isIn(target, "core")) ||
      target === "src/core/errors/errors.ts" ||
      target.startsWith("drizzle-orm");
    expect(violations("src/drizzle", allows)).toEqual([]);
  });

  it("opentelemetry imports itself, core's checks, types of core and the worker, and its API", () => {
    const allows = ({ target, isType }: Import) =>
      isIn(target, "opentelemetry") ||
      ["src/core/validate.ts", "src/core/errors/errors.ts"].includes(target) ||
      (isType && isIn(target, "core", "producer", "worker")) ||
      target === "@opentelemetry/api";
    expect(violations("src/opentelemetry", allows)).toEqual([]);
  });

  it("functions and examples import each other, packages, and Wadi's entry points, as an application does", () => {
    const entries = entryPoints().map(({ path }) => `src/${path}.ts`);
    const allows = ({ target }: Import) =>
      /^(functions|examples)\//.test(target) || entries.includes(target) || isPackage(target);
    expect(violations("examples", allows)).toEqual([]);
    expect(violations("functions", allows)).toEqual([]);
  });
});

/** Each reads one global that the Web does not have, and works without it. */
const LOOKS_PAST_THE_WEB = [
  "src/producer/scope.ts", // the environment that Vercel names
  "src/core/vercel-context.ts", // the deadline of the invocation
  "src/core/shared-sets.ts", // what several copies of the package have in common
  "src/worker/drain/next-turn.ts", // setImmediate, where there is one
  "src/worker/drain/event-loop-monitor.ts", // the CPU time of the process
  "src/worker/run/stop-signals.ts", // the process whose signals stop a worker
];

it("core, producer, worker, http and opentelemetry use Web globals only, except the files that say so", () => {
  const foreign = [
    /"node:/,
    /(?<!\.)\b(?:process|Buffer)\s*[.[(]/,
    /\b(?:eval|require|setImmediate)\s*\(/,
    /\b(?:globalThis|new Function|__dirname)\b/,
  ];
  const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  const users = ["src/core", "src/schedules", "src/producer", "src/worker", "src/http", "src/opentelemetry"]
    .flatMap(filesOf)
    .filter((file) => foreign.some((pattern) => pattern.test(withoutComments(read(file)))));
  expect(users.sort()).toEqual([...LOOKS_PAST_THE_WEB].sort());
});

it("no file is longer than 300 lines, and none is a collection of unrelated helpers", () => {
  const files = ["src", "functions", "test", "testing", "scripts", "bench", "examples"].flatMap(filesOf);
  const long = files.filter((file) => read(file).trimEnd().split("\n").length > 300);
  const boxes = files.filter((file) => /\/(?:utils?|helpers?|common|misc)\.m?[jt]s$/.test(file));
  expect({ long, boxes }).toEqual({ long: [], boxes: [] });
});
