// A TCP proxy that counts round trips and can break, stall or silence connections.

import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  port: number;
  /** Round trips so far: how often a client began to send, at first or after the server had sent. */
  readonly turns: number;
  /** Breaks every connection. */
  cut(): void;
  /** Keeps every connection open, but drops all data on it from now on, in both directions. */
  silence(): void;
  /** Whether the data of connections that are opened from now on is dropped. */
  isSilent: boolean;
  /** The server to which later connections are forwarded. */
  target: number;
  stop(): Promise<void>;
}

export interface TcpProxyOptions {
  port: number;
  host?: string;
  /** Added to each round trip, half on the way there and half on the way back. @default 0 */
  latencyMs?: number;
}

/** A loopback proxy that delays what passes, in order, and counts round trips. */
export async function startTcpProxy({
  port,
  host = "127.0.0.1",
  latencyMs = 0,
}: TcpProxyOptions): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  let turns = 0;

  const server = createServer((client) => {
    const upstream = connect(proxy.target, host);
    if (proxy.isSilent) for (const socket of [client, upstream]) silent.add(socket);
    let clientSpoke = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
    }
    client.on("data", () => {
      if (!clientSpoke) turns++;
      clientSpoke = true;
    });
    upstream.on("data", () => {
      clientSpoke = false;
    });
    forward(client, upstream);
    forward(upstream, client);
  });

  function forward(from: Socket, to: Socket): void {
    // Timers of one duration fire in the order they were set.
    const later = (act: () => void) => (latencyMs > 0 ? setTimeout(act, latencyMs / 2) : act());
    from.on("data", (chunk) => later(() => to.writable && !silent.has(from) && to.write(chunk)));
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      later(() => to.destroySoon());
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: TcpProxy = {
    port: (server.address() as { port: number }).port,
    get turns() {
      return turns;
    },
    cut,
    silence() {
      for (const socket of sockets) silent.add(socket);
    },
    isSilent: false,
    target: port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
  return proxy;
}
