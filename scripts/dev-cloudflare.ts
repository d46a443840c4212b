// `npm run dev:cloudflare`: the Cloudflare worker in wrangler's local runtime, with a local D1. Submits one task for
// each Markdown file of this repository over HTTP, fires the cron, and waits for every result by its key.
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "./options.ts";

const ROOT = join(import.meta.dirname, "..");
const SECRET = crypto.randomUUID();
const CRON = "/cdn-cgi/local/scheduled?cron=*+*+*+*+*&format=json";
/** Milliseconds the whole run may take before it gives up. */
const LIMIT_MS = 50_000;

interface FinishedTask {
  readonly status: string;
  readonly result: { lines: number; words: number; headings: number } | null;
}

const { json } = readOptions("dev:cloudflare", {
  json: { about: "print the summary as one line of JSON, last" },
});

// Set before wrangler is loaded, so that it sends no metrics and asks no questions.
Object.assign(process.env, { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" });

const startedAtMs = Date.now();
const persist = mkdtempSync(join(tmpdir(), "wadi-dev-cloudflare-"));
setTimeout(() => fail(new Error(`not done after ${LIMIT_MS / 1000} s`)), LIMIT_MS).unref();

function fail(error: unknown): never {
  rmSync(persist, { recursive: true, force: true });
  console.error(error);
  process.exit(1); // workerd ends with this process
}

try {
  console.log("starting wrangler's local runtime on wrangler.toml …");
  const { unstable_startWorker } = await import("wrangler");
  const worker = await unstable_startWorker({
    config: join(ROOT, "wrangler.toml"),
    envFiles: [], // the secret is made up for this run
    bindings: { WADI_SECRET: { type: "plain_text", value: SECRET } },
    dev: {
      remote: false,
      watch: false,
      inspector: false,
      persist,
      logLevel: "warn",
      server: { hostname: "127.0.0.1", port: 0 },
      structuredLogsHandler: ({ level, message }: { level: string; message: string }) =>
        console.log(`  worker ${level}: ${message}`),
    },
  });
  await worker.ready;
  const summary = await run(await worker.url);
  await worker.dispose();
  rmSync(persist, { recursive: true, force: true });
  if (json) console.log(JSON.stringify(summary));
  process.exit(summary.submitted > 0 && summary.succeeded === summary.submitted ? 0 : 1);
} catch (error) {
  fail(error);
}

async function run(url: URL) {
  const request = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(new URL(path, url), {
      ...init,
      headers: { authorization: `Bearer ${SECRET}` },
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };

  const files = globSync("**/*.md", { cwd: ROOT, exclude: ["**/node_modules", "dist"] }).sort();
  const submit = async (path: string) => {
    const payload = { text: readFileSync(join(ROOT, path), "utf8") };
    const body = JSON.stringify({ name: "text.stats", payload, key: path });
    await request("/tasks", { method: "POST", body });
  };
  await Promise.all(files.map(submit));
  console.log(`submitted ${files.length} tasks to ${url.href}tasks, one for each Markdown file`);

  let waitedByKey = 0;
  let isWaiting = true;
  const wait = async (path: string): Promise<FinishedTask> => {
    for (;;) {
      const response = await request(`/keys/${encodeURIComponent(path)}/wait`);
      if (response.status !== 200) continue; // 202: not done yet
      const task = (await response.json()) as FinishedTask;
      waitedByKey++;
      const { lines, words, headings } = task.result ?? { lines: 0, words: 0, headings: 0 };
      console.log(`${task.status}  ${path}: ${lines} lines, ${words} words, ${headings} headings`);
      return task;
    }
  };
  const all = Promise.all(files.map(wait)).finally(() => {
    isWaiting = false;
  });
  all.catch(() => {}); // it is awaited below, but may fail before

  let crons = 0;
  while (isWaiting) {
    await request(CRON);
    crons++;
    console.log(`cron ${crons} fired`);
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 2000))]);
  }

  const statuses = (await all).map(({ status }) => status);
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
  const seconds = (Date.now() - startedAtMs) / 1000;
  const summary = {
    submitted: files.length,
    succeeded: count("succeeded"),
    failed: count("failed"),
    crons,
    waitedByKey,
    seconds,
  };
  console.log(
    `${summary.succeeded} of ${summary.submitted} tasks succeeded in ${crons} cron invocations, ` +
      `all waited for by key, in ${seconds.toFixed(1)} s`,
  );
  return summary;
}
