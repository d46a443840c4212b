// The check of tokens.

import { describe, expect, it, vi } from "vitest";
import { bearerToken, tokenCheck } from "../../src/http/bearer-token.ts";
import { openFixture, SECRET } from "../../testing/http-fixture.ts";

describe("tokenCheck", () => {
  it("accepts exactly the accepted tokens", async () => {
    const check = tokenCheck(["first", "second"]);
    for (const token of ["first", "second"]) expect(await check(token)).toBe(true);
    for (const token of ["", "firs", "firstt", "First", "firstsecond"])
      expect(await check(token)).toBe(false);
  });

  it("compares whole digests: of 2000 tokens some share their first byte with it", async () => {
    const check = tokenCheck(["first"]);
    const tokens = Array.from({ length: 2000 }, (_, n) => `token ${n}`);
    expect(await Promise.all(tokens.map(check))).not.toContain(true);
  });

  it("accepts nothing if there is nothing to accept, and a token that is listed twice", async () => {
    expect(await tokenCheck([])("")).toBe(false);
    expect(await tokenCheck(["a", "a"])("a")).toBe(true);
  });

  it("compares digests of one length, and all of them whichever matched", async () => {
    const digest = vi.spyOn(crypto.subtle, "digest");
    const check = tokenCheck(["first", "second"]);
    await check("first");
    await check("a much longer token that is wrong");
    expect(digest).toHaveBeenCalledTimes(4);
    digest.mockRestore();
  });
});

it("reads the token of a bearer header and of no other", () => {
  const token = (authorization: string) =>
    bearerToken(new Request("https://wadi.test", { headers: { authorization } }));
  expect(token("Bearer abc")).toBe("abc");
  expect(token("bearer  a b ")).toBe("a b");
  for (const header of ["", "Bearer", "Bearer ", "Basic abc", "abc"]) expect(token(header)).toBe(null);
});

describe("the secrets of the handler", () => {
  it("open everything, and the cron secret only the drain", async () => {
    const { call } = openFixture({ cronSecret: "cron" });
    for (const token of [SECRET, "cron"]) expect((await call("POST", "/drain", { token })).status).toBe(200);
    expect((await call("POST", "/tasks", { token: "cron", body: { name: "a" } })).status).toBe(401);
    expect((await call("GET", "/keys/k", { token: "cron" })).status).toBe(401);
  });

  it("may end in the newline a shell left", async () => {
    const { call } = openFixture({ secret: `${SECRET}\n` });
    expect((await call("POST", "/drain")).status).toBe(200);
  });

  it.each([undefined, "", " \n"])(
    "refuse everything while the secret is %j, and the log says once how to set it",
    async (secret) => {
      const { call, errors } = openFixture({ secret, secretHint: "run `set-it`" });
      for (const token of [null, "", "undefined", SECRET]) {
        const { status, body, headers } = await call("GET", "/keys/k", { token });
        expect([status, body.error.code, headers.get("www-authenticate")]).toEqual([
          401,
          "UNAUTHORIZED",
          "Bearer",
        ]);
        expect((await call("POST", "/drain", { token })).status).toBe(401);
      }
      expect(errors.map(String)).toEqual([
        "HttpError: no secret is configured, so every request is refused: run `set-it`",
      ]);
    },
  );

  it.each([undefined, ""])(
    "say in the log once that a cron job came while its secret is %j",
    async (cronSecret) => {
      const { call, errors } = openFixture({ cronSecret, secretHint: "run `set-it`" });
      for (const token of [null, "", "wrong"])
        expect((await call("GET", "/drain", { token })).status).toBe(401);
      expect((await call("POST", "/drain")).status).toBe(200);
      expect(errors.map(String)).toEqual([
        "HttpError: no cronSecret is configured, so a cron job is refused: run `set-it`",
      ]);
    },
  );

  it("say nothing of a stranger where no cron job is expected", async () => {
    const { call, errors } = openFixture({});
    expect((await call("GET", "/drain", { token: "wrong" })).status).toBe(401);
    expect(errors).toEqual([]);
  });

  it("are reported to console.error by default, without a stack", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const { call } = openFixture({ secret: undefined, onError: undefined });
    await call("GET", "/keys/k");
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/^wadi: no secret is configured, .*: pass `secret` to createHandler/)],
    ]);
    log.mockRestore();
  });

  it("must be texts", () => {
    expect(() => openFixture({ secret: 1 as never })).toThrow(
      "secret must be a string or undefined, got number",
    );
    expect(() => openFixture({ secrets: SECRET } as never)).toThrow('createHandler has no option "secrets"');
  });
});
