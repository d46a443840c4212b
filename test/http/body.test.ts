// Bodies of requests that are large, slow or cut off.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openFixture, SECRET } from "../../testing/http-fixture.ts";

const headers = { authorization: `Bearer ${SECRET}` };

function post(body: ReadableStream<Uint8Array>): Request {
  const init = { method: "POST", headers, body, duplex: "half" };
  return new Request("https://wadi.test/tasks", init as RequestInit);
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** A body that is nested once in itself for each level, and holds empty objects at the innermost one. */
function nested(levels: number, objects: number): string {
  const inside = Array(objects).fill("{}").join(",");
  return `{"name":"a","payload":${"[".repeat(levels)}${inside}${"]".repeat(levels)}}`;
}

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("a body", () => {
  it("is checked in a time that grows with its size, not with its size times its depth", async () => {
    const { call } = openFixture();
    const submit = (levels: number) =>
      cpuMs(async () => {
        const { status } = await call("POST", "/tasks", { body: nested(levels, 600_000) });
        expect(status).toBe(201);
      });
    await submit(1);
    const flat = Math.min(await submit(1), await submit(1));
    const deep = Math.min(await submit(490), await submit(490));
    expect(deep / flat).toBeLessThan(3);
  });

  it("that breaks off is refused as incomplete", async () => {
    const { handler, errors, wadi } = openFixture();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes('{"name":'));
        controller.error(new TypeError("terminated"));
      },
    });
    const response = await handler(post(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        code: "BODY_INCOMPLETE",
        message: "the body broke off before its end; send the request again",
        retryable: true,
      },
    });
    expect([errors, await wadi.list()]).toEqual([[], []]);
  });

  it("whose characters are split over chunks is read as one text", async () => {
    const { handler, wadi } = openFixture();
    const whole = bytes('{"name":"a","payload":"ü€😀"}');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of whole) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    expect((await handler(post(body))).status).toBe(201);
    expect((await wadi.list())[0]!.payload).toBe("ü€😀");
  });

  it("that does not end in time is refused", async () => {
    const { handler, errors } = openFixture({ maxBodyMs: 50 });
    let canceled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes("{")),
      cancel() {
        canceled = true;
      },
    });
    const response = await handler(post(body));
    expect(response.status).toBe(408);
    expect(await response.json()).toMatchObject({ error: { code: "BODY_TIMEOUT", retryable: true } });
    expect([canceled, errors]).toEqual([true, []]);
  });
});

/** Node's own HTTP server over the handler. */
async function serve(handler: (request: Request) => Promise<Response>): Promise<Server> {
  const server = createServer(async (incoming, outgoing) => {
    const body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    const response = await handler(post(body));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

it("a server answers a client that stalls, and goes on after one that hangs up in the middle", async () => {
  const { handler, errors } = openFixture({ maxBodyMs: 300 });
  const codes: string[] = [];
  const server = await serve(async (request) => {
    const response = await handler(request);
    codes.push(((await response.clone().json()) as { error: { code: string } }).error.code);
    return response;
  });
  const { port } = server.address() as AddressInfo;
  try {
    const start = () => {
      const socket = connect(port, "127.0.0.1");
      socket.write('POST /tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"name":');
      return socket;
    };
    const stalled = start();
    const [answer] = await once(stalled, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    stalled.destroy();
    const gone = start();
    setTimeout(() => gone.resetAndDestroy(), 50);
    await expect.poll(() => codes).toEqual(["BODY_TIMEOUT", "BODY_INCOMPLETE"]);
    expect(errors).toEqual([]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
