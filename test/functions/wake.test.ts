// From a submit's response to the start of its handler, where nothing but kicks starts drains.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Wadi, Worker, wakeInProcess } from "../../src/index.ts";
import { memoryWadi } from "../../testing/memory.ts";
import { until } from "../../testing/until.ts";
import type { WakeReport } from "../../testing/wake-worker.ts";
import { bundleForWorker } from "../../testing/worker-bundle.ts";

interface Server {
  readonly url: string;
  stop(): Promise<unknown>;
}

async function startWorkerd(prefix: string): Promise<Server> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      name: "wake",
      script: await bundleForWorker(join(import.meta.dirname, "../../testing/wake-worker.ts")),
      compatibilityDate: "2026-08-01",
      d1Databases: ["DB"],
      durableObjects: { OBJECT: { className: "WakeObject", useSQLite: true } },
      serviceBindings: { SELF: "wake" },
      cf: false,
    }),
  );
  const url = new URL(prefix, await miniflare.ready).href;
  return { url, stop: () => miniflare.dispose() };
}

async function startNode(): Promise<Server> {
  const report = { drains: 0, startedAtMs: {} as Record<string, number> };
  const wadi: Wadi = memoryWadi({
    wake: wakeInProcess({
      drain(options) {
        report.drains++;
        return worker.drain(options);
      },
    }),
  });
  const worker = new Worker(wadi).task("note", ({ payload }) => {
    report.startedAtMs[String(payload)] = Date.now();
  });
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://x");
    if (pathname === "/submit") await wadi.submit("note", searchParams.get("n"));
    response.end(pathname === "/report" ? JSON.stringify(report) : '"bare"');
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, stop: async () => server.close() };
}

const servers = {
  "D1 in workerd": () => startWorkerd("/"),
  "a Durable Object in workerd": () => startWorkerd("/object/"),
  "better-sqlite3 on Node": startNode,
};

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

describe.each(Object.entries(servers))("on %s", (name, start) => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
    await submit("first"); // creates the tables
    await startOf("first");
  });
  afterAll(() => server.stop());

  const get = async (path: string) => (await fetch(new URL(path, server.url))).text();
  const submit = (n: string) => get(`submit?n=${n}`);
  const report = async () => JSON.parse(await get("report")) as WakeReport;
  const startOf = async (n: string) => {
    await until(async () => (await report()).startedAtMs[n] !== undefined);
    return (await report()).startedAtMs[n]!;
  };

  test("a task starts soon after the response to its submit, by one drain each", async () => {
    const before = (await report()).drains;
    const [bare, started]: number[][] = [[], []];
    for (let i = 0; i < 25; i++) {
      const from = performance.now();
      await get("bare");
      bare!.push(performance.now() - from);
      await submit(`one-${i}`);
      const answeredAtMs = Date.now();
      started!.push(Math.max(0, (await startOf(`one-${i}`)) - answeredAtMs));
    }
    const figures = { name, bareMs: median(bare!), startMs: median(started!) };
    if (process.env.WADI_FIGURES) console.log(JSON.stringify(figures));
    expect((await report()).drains - before).toBeLessThanOrEqual(26);
    expect(figures.startMs).toBeLessThan(50);
  });

  test("100 submits in a burst cause at most 3 drains", async () => {
    const before = (await report()).drains;
    await Promise.all(Array.from({ length: 100 }, (_, i) => submit(`burst-${i}`)));
    await Promise.all(Array.from({ length: 100 }, (_, i) => startOf(`burst-${i}`)));
    const { drains } = await report();
    if (process.env.WADI_FIGURES) console.log(JSON.stringify({ name, drains: drains - before }));
    expect(drains - before).toBeLessThanOrEqual(3);
  });
});
