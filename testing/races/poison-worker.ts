// Serves until a task kills this process. A task's payload is how long it takes, or "poison".
import { setTimeout as sleep } from "node:timers/promises";
import { Wadi, Worker, type WorkerOptions } from "../../src/index.ts";
import { type Address, connect } from "./connect.ts";

const [address, options] = process.argv.slice(2).map((text) => JSON.parse(text)) as [Address, WorkerOptions];

const { executor } = await connect(address);
const worker = new Worker(new Wadi(executor), { ...options, pollMs: 20, maxPollMs: 100 });
worker.task("job", async ({ payload }) => {
  if (payload === "poison") {
    await sleep(20);
    process.kill(process.pid, "SIGKILL");
  }
  await sleep(Number(payload));
});
await worker.serve();
