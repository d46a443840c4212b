/** A KV namespace of workerd, as a hint reads and writes it on Cloudflare. */

import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { KvLike } from "../../../src/index.ts";

export async function openKv(): Promise<{ readonly namespace: KvLike; close(): Promise<void> }> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: "export default {}",
      compatibilityDate: "2026-08-01",
      kvNamespaces: ["HINT"],
    }),
  );
  const namespace = (await miniflare.getKVNamespace("HINT")) as unknown as KvLike;
  return { namespace, close: () => miniflare.dispose() };
}
