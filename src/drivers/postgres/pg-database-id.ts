/** What a node-pg `Pool` has in `options` and a `Client` in itself. */
interface Address {
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly database?: string | undefined;
}

/** What identifies a database in this process: where it is, without user or password. */
export function pgDatabase(client: { readonly options?: object } & object): string | object {
  const { connectionString, host, port, database } = (client.options ?? client) as Address;
  if (connectionString === undefined) return addressOf(host, port, database);
  try {
    const url = new URL(connectionString);
    return addressOf(url.hostname || (url.searchParams.get("host") ?? ""), url.port, url.pathname.slice(1));
  } catch {
    return client; // a form of its own, such as the path of a socket
  }
}

/** What is not given comes from the environment, which is the same for the whole process. */
function addressOf(host = "", port: number | string = "", database = ""): string {
  return `postgres://${host}:${port || 5432}/${database}`;
}
