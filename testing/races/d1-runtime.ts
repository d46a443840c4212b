// A D1 database in workerd and a Worker script that runs jobs on it, so that racers share one runtime.

import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { D1Like } from "../../src/drivers/d1.ts";
import type { Racer } from "./jobs.ts";

export interface D1Runtime {
  readonly binding: D1Like;
  /** Runs its jobs inside workerd, one request each, at the same time as the other racers. */
  racer(): Racer;
  stop(): Promise<void>;
}

/** A D1 database in workerd with a Worker script next to it: from Node each statement would cost a separate call. */
export async function startD1(): Promise<D1Runtime> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "d1-worker.ts")],
    bundle: true,
    format: "esm",
    platform: "neutral",
    write: false,
  });
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: outputFiles[0]!.text,
      compatibilityDate: "2026-08-01",
      d1Databases: ["DB"],
      cf: false,
    }),
  );
  const url = await miniflare.ready;
  return {
    binding: (await miniflare.getD1Database("DB")) as unknown as D1Like,
    racer: () => ({
      async run(job, args) {
        const response = await fetch(url, { method: "POST", body: JSON.stringify({ job, args }) });
        if (!response.ok) throw new Error(`the worker failed: ${await response.text()}`);
        return (await response.json()) as never;
      },
      close: async () => {},
    }),
    stop: () => miniflare.dispose(),
  };
}
