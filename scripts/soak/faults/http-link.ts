// An HTTP proxy between a worker and its database that drops, delays, doubles and cuts requests.

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FaultLog } from "./kinds.ts";

type LinkFault = "dropped" | "delayed" | "doubled" | "lostAnswers";

/** The proxy between a worker and its database. */
export interface HttpLink {
  readonly port: number;
  /** Injects a fault into the next request. */
  inject(kind: LinkFault): void;
  close(): Promise<void>;
}

const DELAY_MS = 400;

/** An HTTP proxy that injects faults. */
export async function openHttpLink(target: number, worker: string, log: FaultLog): Promise<HttpLink> {
  const armed: LinkFault[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const kind = armed.shift();
    const delayMs = kind === "delayed" ? Math.random() * DELAY_MS : 0;
    try {
      const body = await readBody(incoming);
      if (kind !== undefined) log.add(kind, worker, delayMs);
      if (kind === "dropped") return void incoming.socket.destroy();
      await sleep(delayMs);
      const answer = await forward(target, incoming, body);
      // The copy arrives while others are under way, or after the answer of the first.
      if (kind === "doubled") {
        void sleep(Math.random() * DELAY_MS)
          .then(() => forward(target, incoming, body))
          .catch(() => {});
      }
      if (kind === "lostAnswers") return void incoming.socket.destroy();
      reply(outgoing, answer);
    } catch {
      incoming.socket.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    inject: (kind) => armed.push(kind),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

function forward(port: number, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, path: url, headers }, async (response) => {
      try {
        const type = response.headers["content-type"] ?? "application/json";
        resolve({ status: response.statusCode!, type, body: await readBody(response) });
      } catch (error) {
        reject(error);
      }
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

function reply(outgoing: ServerResponse, { status, type, body }: Answer): void {
  outgoing.writeHead(status, { "content-type": type });
  outgoing.end(body);
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
