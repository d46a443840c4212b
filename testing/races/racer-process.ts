// A process that takes part in a race: it obeys its parent and ends with it.
import { Wadi } from "../../src/index.ts";
import { type Address, type Connection, connect } from "./connect.ts";
import { type DoomedWork, workUntilKilled } from "./doomed-worker.ts";
import { type JobName, runJob } from "./jobs.ts";
import { serveUntilSigterm } from "./rolling-worker.ts";

/** Opens a connection, runs a job, works for ever or until SIGTERM on it, or closes it. */
export type Order =
  | { open: Address }
  | { job: JobName; args: unknown }
  | { work: DoomedWork }
  | "serve"
  | "close";
export type Reply = { value: unknown } | { error: string };

let connection: Connection | undefined;
let wadi: Wadi | undefined;

async function obey(order: Order): Promise<unknown> {
  if (order === "close") return connection?.close();
  if (order === "serve") return serveUntilSigterm(wadi!);
  if ("job" in order) return runJob(wadi!, order.job, order.args);
  if ("work" in order) return workUntilKilled(wadi!, order.work);
  connection = await connect(order.open);
  wadi = new Wadi(connection.executor);
  return undefined;
}

process.on("disconnect", () => process.exit());
process.on("message", async (order: Order) => {
  let reply: Reply;
  try {
    reply = { value: await obey(order) };
  } catch (error) {
    const { stack, cause } = error as Error;
    reply = { error: cause === undefined ? String(stack) : `${stack}\ncaused by ${cause}` };
  }
  process.send!(reply);
});
