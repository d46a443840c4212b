// One HTTP handler that all functions of the deployment share.

import { createHandler } from "../../src/http/index.ts";
import { createWorker, tasks } from "../tasks.ts";
import { connect } from "./database.ts";

const handler = createHandler({
  wadi: connect,
  worker: createWorker,
  tasks,
  secret: process.env.WADI_SECRET,
  cronSecret: process.env.CRON_SECRET,
  secretHint:
    "set WADI_SECRET (submit, wait) and CRON_SECRET (cron) in the project's environment variables, " +
    "for example with `npx vercel env add WADI_SECRET production`, and deploy again",
  budgetMs: 50_000,
});

/** Answers a request of one function as the route `path` of the handler, which checks the query too. */
export function answer(request: Request, path: string): Promise<Response> {
  const url = new URL(request.url);
  url.pathname = path;
  return handler(new Request(url, request));
}
