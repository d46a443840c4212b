import { type D1Like, d1 } from "../../src/drivers/d1.ts";
import { createHandler, type HttpHandler } from "../../src/http/index.ts";
import { type FetcherLike, Wadi, wakeByBinding } from "../../src/index.ts";
import { createWorker, tasks } from "../tasks.ts";

/** Bindings of wrangler.toml, and the secret of `wrangler secret put WADI_SECRET`. */
export interface Env {
  readonly DB: D1Like;
  /** This Worker itself, which a submit kicks. Without it, or without a secret, tasks wait for the cron trigger. */
  readonly SELF?: FetcherLike;
  readonly WADI_SECRET?: string;
}

type WaitUntil = (promise: Promise<unknown>) => void;

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** Leaves room below the 30 seconds an invocation has once its caller is gone. */
const BUDGET_MS = 20_000;

const handlers = new WeakMap<Env, HttpHandler>();

/** One for each invocation: a promise of one request must not be awaited by another. */
function connect({ DB, SELF, WADI_SECRET }: Env, waitUntil: WaitUntil | undefined): Wadi {
  const wake = SELF && WADI_SECRET ? wakeByBinding(SELF, WADI_SECRET) : undefined;
  return new Wadi(d1(DB), { wake, waitUntil });
}

function handlerOf(env: Env): HttpHandler {
  let handler = handlers.get(env);
  if (handler === undefined) {
    handler = createHandler({
      wadi: ({ waitUntil }) => connect(env, waitUntil),
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

  /**
   * The cron trigger, which is the safety net of lost kicks. A drain that throws marks the invocation as failed; the
   * next one takes over.
   */
  async scheduled(_controller: unknown, env: Env, context: Context): Promise<void> {
    const wadi = connect(env, (promise) => context.waitUntil(promise));
    const summary = await createWorker(wadi).drain({ budgetMs: BUDGET_MS });
    if (summary.claimed + summary.recovered > 0) console.log(`drain ${JSON.stringify(summary)}`);
  },
};
