import { type D1Like, d1 } from "../../src/drivers/d1.ts";
import { createHandler, type HttpHandler } from "../../src/http/index.ts";
import { Wadi } from "../../src/index.ts";
import { createWorker, tasks } from "../tasks.ts";

/** Bindings of wrangler.toml, and the secret of `wrangler secret put WADI_SECRET`. */
export interface Env {
  readonly DB: D1Like;
  readonly WADI_SECRET?: string;
}

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** Leaves room below the 30 seconds an invocation has once its caller is gone. */
const BUDGET_MS = 20_000;

const handlers = new WeakMap<Env, HttpHandler>();

function handlerOf(env: Env): HttpHandler {
  let handler = handlers.get(env);
  if (handler === undefined) {
    handler = createHandler({
      // One for each request: a promise of one request must not be awaited by another.
      wadi: () => new Wadi(d1(env.DB)),
      worker: createWorker,
      tasks,
      secret: env.WADI_SECRET,
      secretHint:
        "run `npx wrangler secret put WADI_SECRET`, or put WADI_SECRET=... into .dev.vars for `wrangler dev`",
      budgetMs: BUDGET_MS,
    });
    handlers.set(env, handler);
  }
  return handler;
}

export default {
  fetch(request: Request, env: Env, context: Context): Promise<Response> {
    return handlerOf(env)(request, { waitUntil: (promise) => context.waitUntil(promise) });
  },

  /** The cron trigger. A drain that throws marks the invocation as failed; the next one takes over. */
  async scheduled(_controller: unknown, env: Env): Promise<void> {
    const summary = await createWorker(new Wadi(d1(env.DB))).drain({ trigger: "scheduled" });
    if (summary.claimed + summary.recovered > 0) console.log(`drain ${JSON.stringify(summary)}`);
  },
};
