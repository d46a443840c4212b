// An HTTP handler with its Wadi, its worker and a way to call it, for the tests of src/http.

import Database from "better-sqlite3";
import * as v from "valibot";
import type { Executor } from "../src/driver.ts";
import { betterSqlite3 } from "../src/drivers/better-sqlite3.ts";
import {
  createHandler,
  type HandlerInvocation,
  type HttpHandler,
  type HttpHandlerOptions,
} from "../src/http/index.ts";
import { defineTask, TaskError, Wadi, Worker } from "../src/index.ts";

export const SECRET = "correct horse battery staple";

export const double = defineTask({ name: "double", payload: v.object({ n: v.number() }), maxAttempts: 7 });

export interface Fixture {
  readonly wadi: Wadi;
  readonly worker: Worker;
  readonly handler: HttpHandler;
  /** The calls of onError, in order. */
  readonly errors: unknown[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface CallOptions {
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  /** Null sends no Authorization header. */
  readonly token?: string | null;
  readonly signal?: AbortSignal;
  readonly invocation?: HandlerInvocation;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests are about its content
  readonly body: any;
}

export interface FixtureOptions extends Partial<HttpHandlerOptions> {
  /** @default better-sqlite3 in memory */
  readonly executor?: Executor;
}

/** The handler over a fresh database, with a worker for `double` and for `broken`, which fails for good. */
export function openFixture({ executor, ...options }: FixtureOptions = {}): Fixture {
  const wadi = new Wadi(executor ?? betterSqlite3(new Database(":memory:")), {
    requestRetry: { tries: 2, baseMs: 1, capMs: 1 },
  });
  const worker = new Worker(wadi, { backoff: { baseMs: 0 } })
    .task(double, ({ payload }) => payload.n * 2)
    .task("broken", () => {
      throw new TaskError("no use", { code: "no_use", retryable: false });
    });
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const handler = createHandler({ wadi, worker, secret: SECRET, onError, ...options });

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, token = SECRET, signal = null, invocation } = options;
    const request = new Request(`https://wadi.test${path}`, {
      method,
      signal,
      ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const response = await handler(request, invocation);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? null : JSON.parse(text),
    };
  }

  return { wadi, worker, handler, errors, call };
}
