// Every key can be addressed over HTTP, and no other task is reached.

import { describe, expect, it } from "vitest";
import { openFixture } from "../../testing/http-fixture.ts";

const KEYS = [".", "..", "wait", "%2e", "%2E%2E", "a/..", "./wait", "keys", " ", "+", "a&id=b", "ü?#"];

describe("every key", () => {
  it.each(KEYS)("%j is addressed by the query, and nothing else is", async (key) => {
    const { call, wadi } = openFixture();
    for (const other of KEYS) if (other !== key) await wadi.submit("any", other, { key: other });
    const query = `key=${encodeURIComponent(key)}`;
    const none = [await call("GET", `/keys?${query}`), await call("GET", `/wait?${query}&timeoutMs=0`)];
    expect(none.map(({ status }) => status)).toEqual([404, 404]);
    const { id } = await wadi.submit("any", key, { key });
    expect((await call("GET", `/keys?${query}`)).body).toMatchObject({ id, payload: key });
    const waited = await call("GET", `/wait?${query}&timeoutMs=0`);
    expect([waited.status, waited.body.id]).toEqual([202, id]);
    expect((await call("GET", `/wait?id=${id}&timeoutMs=0`)).body.id).toBe(id);
  });

  it.each(KEYS)("%j in a path is that key's or is refused, never another's", async (key) => {
    const { call, wadi } = openFixture();
    for (const known of KEYS) await wadi.submit("any", known, { key: known });
    for (const path of [`/keys/${encodeURIComponent(key)}`, `/keys/${encodeURIComponent(key)}/wait`]) {
      const wait = path.endsWith("/wait") ? "?timeoutMs=0" : "";
      const { status, body } = await call("GET", `${path}${wait}`);
      if (status === 200 || status === 202) expect(body.payload).toBe(key);
      else expect(status).toBeGreaterThanOrEqual(400);
      if (![".", "..", "wait"].includes(key)) expect(status).toBeLessThan(300);
    }
  });
});

it("says what to use for a key that a path cannot name", async () => {
  const { call } = openFixture();
  const message = async (path: string) => (await call("GET", path)).body.error.message;
  const refusal = 'the keys "", "wait", "." and ".." cannot be in a path; use /keys?key= or /wait?key=';
  for (const path of ["/keys/.", "/keys/wait", "/keys/./wait"]) expect(await message(path)).toBe(refusal);
  expect(await message("/tasks/wait")).toBe(
    'the ids "", "wait", "." and ".." cannot be in a path; use /wait?id=',
  );
  expect(await message("/keys/../wait")).toBe("the query must name the task by id or by key, got neither");
});

it.each([
  ["/keys", "neither"],
  ["/keys?key=", "key must be a non-empty string"],
  ["/wait?key=k&id=i", "both"],
  ["/wait?key=a&key=b", "the query has key more than once"],
  ["/keys/k/wait?timeoutMs=1&timeoutMs=2", "the query has timeoutMs more than once"],
])("refuses %s", async (path, message) => {
  const { call, errors } = openFixture();
  const { status, body } = await call("GET", path);
  expect([status, body.error.code, errors]).toEqual([400, "INVALID_ARGUMENT", []]);
  expect(body.error.message).toContain(message);
});
