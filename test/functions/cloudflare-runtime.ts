// The Cloudflare worker of this repository in a local runtime.

import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_readConfig } from "wrangler";
import { bundleForWorker } from "../../testing/worker-bundle.ts";

export interface CloudflareRuntime {
  /** What the worker wrote to its log, in order. */
  readonly log: { readonly level: string; readonly message: string }[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Fires the cron trigger and says how the invocation ended. */
  fireCron(): Promise<string>;
  stop(): Promise<void>;
}

/** What miniflare's types leave out. */
interface Scheduled {
  scheduled(event: { cron: string }): Promise<{ outcome: string }>;
}

/**
 * The worker of wrangler.toml in workerd, with a fresh, empty D1 database. Without `kicks` it has no binding of itself.
 */
export async function startCloudflare(
  vars: Record<string, string>,
  { kicks = false } = {},
): Promise<CloudflareRuntime> {
  process.env.WRANGLER_SEND_METRICS = "false";
  const config = unstable_readConfig({ config: "wrangler.toml" });
  const log: CloudflareRuntime["log"] = [];
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: await bundleForWorker(config.main!),
      compatibilityDate: config.compatibility_date!,
      compatibilityFlags: config.compatibility_flags,
      d1Databases: config.d1_databases.map(({ binding }: { binding: string }) => binding),
      bindings: vars,
      ...(kicks && { name: config.name, serviceBindings: { SELF: config.name! } }),
      cf: false,
      handleStructuredLogs: ({ level, message }) => log.push({ level, message }),
    }),
  );
  const url = await miniflare.ready;
  return {
    log,
    fetch: (path, init) => fetch(new URL(path, url), init),
    async fireCron() {
      const worker = (await miniflare.getWorker()) as unknown as Scheduled;
      return (await worker.scheduled({ cron: config.triggers.crons![0]! })).outcome;
    },
    stop: () => miniflare.dispose(),
  };
}
