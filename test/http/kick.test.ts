// Kicks over HTTP: a signed request to the drain route.

import { expect, test, vi } from "vitest";
import { createHandler } from "../../src/http/index.ts";
import { Wadi, Worker, wakeByBinding, wakeByFetch } from "../../src/index.ts";
import { signKick } from "../../src/producer/wake/kick-token.ts";
import { memoryWadi } from "../../testing/memory.ts";

const SECRET = "a secret";

function app(options: { secret?: string | string[]; audience?: string } = {}) {
  const wadi = memoryWadi();
  const runs: unknown[] = [];
  const worker = new Worker(wadi).task("a", ({ payload }) => void runs.push(payload));
  const background: Promise<unknown>[] = [];
  const handler = createHandler({ wadi, worker, secret: SECRET, ...options });
  const waitUntil = (promise: Promise<unknown>) => void background.push(promise);
  const statuses: number[] = [];
  const binding = {
    async fetch(url: string, init: RequestInit) {
      const response = await handler(new Request(url, init), { waitUntil });
      statuses.push(response.status);
      return response;
    },
  };
  return { wadi, runs, handler, binding, background, statuses };
}

const withToken = (token: string, path = "/drain") =>
  new Request(`https://x${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` } });

test("a submit starts a drain by one request, which is answered before the drain has ended", async () => {
  const { wadi, runs, binding, background, statuses } = app();
  const errors: unknown[] = [];
  const wake = wakeByBinding(binding, SECRET);
  const producer = new Wadi(wadi.executor, { wake, onError: (error) => errors.push(error) });
  await producer.submit("a", 1);
  await vi.waitFor(() => expect(statuses).toEqual([202]));
  await Promise.all(background);
  expect(runs).toEqual([1]);
  expect(errors).toEqual([]);
});

test("a handler without waitUntil answers after the drain", async () => {
  const { wadi, runs, handler } = app();
  await wadi.submit("a", 1);
  const response = await handler(withToken(await signKick(SECRET, "wadi", 0)));
  expect(response.status).toBe(200);
  expect(runs).toEqual([1]);
});

test("a kick opens the drain route only, with its secret and audience, for two minutes", async () => {
  const now = vi.spyOn(Date, "now");
  try {
    const { handler } = app({ secret: ["new", SECRET], audience: "shop" });
    const status = async (token: string, path?: string) => (await handler(withToken(token, path))).status;
    for (const secret of ["new", SECRET]) expect(await status(await signKick(secret, "shop", 10))).toBe(200);
    expect(await status(await signKick("other", "shop", 0))).toBe(401);
    expect(await status(await signKick(SECRET, "wadi", 0))).toBe(401);
    expect(await status(await signKick(SECRET, "shop", 11))).toBe(401);
    const token = await signKick(SECRET, "shop", 0);
    expect(await status(token, "/tasks")).toBe(401);
    expect(await status(token.replace("wadi-kick.0", "wadi-kick.1"))).toBe(401);
    expect(await status(`${token}0`)).toBe(401);
    now.mockReturnValue(Date.now() + 121_000);
    expect(await status(token)).toBe(401);
  } finally {
    now.mockRestore();
  }
});

test("a refused kick is reported, and fails no submit", async () => {
  const { wadi, binding } = app();
  const errors: string[] = [];
  const producer = new Wadi(wadi.executor, {
    wake: wakeByBinding(binding, "wrong"),
    onError: (error, { operation }) => errors.push(`${operation}: ${(error as Error).message}`),
  });
  await producer.submit("a", 1);
  await vi.waitFor(() => expect(errors).toHaveLength(1));
  expect(errors[0]).toMatch(
    /^wake: the kick was answered with status 401 by wadi.internal\/drain; its secret/,
  );
});

test("a kick that reaches no server names the place, without the password and the query of its URL", async () => {
  const errors: string[] = [];
  const producer = new Wadi(app().wadi.executor, {
    wake: wakeByFetch("http://user:pass@127.0.0.1:1/drain?token=t", "s"),
    onError: (error) => errors.push((error as Error).message),
  });
  await producer.submit("a", 1);
  await vi.waitFor(() => expect(errors).toHaveLength(1));
  expect(errors[0]).toMatch(/^the kick could not be sent to 127.0.0.1:1\/drain; /);
});

test("an URL, a secret and a binding are checked when the wake is made", () => {
  expect(() => wakeByFetch("/drain", "s")).toThrow("absolute URL");
  expect(() => wakeByFetch("localhost:8787/drain", "s")).toThrow("with http or https");
  expect(() => wakeByFetch("https://x/drain", "")).toThrow("must be a secret");
  expect(() => wakeByFetch("https://x/drain", [])).toThrow("must be a secret");
  expect(() => wakeByBinding({} as never)).toThrow("a binding with fetch");
});
