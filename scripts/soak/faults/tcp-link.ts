// A TCP proxy between a worker and its server that drops, delays, cuts and silences connections.

import { connect, createServer, type Socket } from "node:net";
import type { FaultLog } from "./kinds.ts";

type LinkFault = "dropped" | "delayed" | "lostAnswers" | "halfOpen";

/** The proxy between a worker and its server. */
export interface TcpLink {
  readonly port: number;
  /** Injects a fault into the next request. */
  inject(kind: LinkFault): void;
  /** Delays every request for this time, on new connections too, and then delivers it. */
  hold(ms: number): void;
  close(): Promise<void>;
}

const DELAY_MS = 400;

/** A TCP proxy that injects faults into requests of a protocol in which client and server speak in turn. */
export async function openTcpLink(target: number, worker: string, log: FaultLog): Promise<TcpLink> {
  const armed: LinkFault[] = [];
  const sockets = new Set<Socket>();
  let heldUntilMs = 0;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    let isSilent = false;
    let losesAnswer = false;
    let isClientsTurn = true;
    let freeAtMs = 0;
    const send = (act: () => void) => {
      const waitMs = Math.max(heldUntilMs, freeAtMs) - Date.now();
      // Timers that are set in this order for the same moment fire in this order.
      if (waitMs > 0) setTimeout(act, waitMs);
      else act();
    };
    client.on("data", (chunk) => {
      const isRequest = isClientsTurn;
      isClientsTurn = false;
      if (isRequest) {
        const kind = armed.shift();
        if (kind === "dropped") {
          client.destroy();
          upstream.destroy();
        }
        if (kind === "halfOpen") isSilent = true;
        if (kind === "lostAnswers") losesAnswer = true;
        if (kind === "delayed") freeAtMs = Date.now() + Math.random() * DELAY_MS;
        if (kind !== undefined) log.add(kind, worker, Math.max(0, freeAtMs - Date.now()));
      }
      if (!isSilent) send(() => upstream.writable && upstream.write(chunk));
    });
    upstream.on("data", (chunk) => {
      isClientsTurn = true;
      if (losesAnswer) client.destroy();
      else if (!isSilent) client.write(chunk);
    });
    // Data that a client sent before it disconnected still arrives.
    client.on("close", () => send(() => upstream.destroySoon()));
    client.on("end", () => send(() => upstream.end()));
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    inject: (kind) => armed.push(kind),
    hold(ms) {
      heldUntilMs = Date.now() + ms;
      log.add("delayed", worker, ms);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
