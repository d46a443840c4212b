// Identifies the database of a node-pg client, so that executors of one database in a process notify each other.

/** The part of a `Pool`'s `options`, and of a `Client` itself, that says where the database is. */
interface Address {
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly database?: string | undefined;
}

/** What identifies the database in this process: its address, without user and password. */
export function pgDatabaseId(client: { readonly options?: object } & object): string | object {
  const { connectionString, host, port, database } = (client.options ?? client) as Address;
  if (connectionString === undefined) return addressOf(host, port, database);
  try {
    const url = new URL(connectionString);
    return addressOf(url.hostname || (url.searchParams.get("host") ?? ""), url.port, url.pathname.slice(1));
  } catch {
    return client; // another form than a URL, such as the path of a socket
  }
}

/** A missing part comes from the environment, which is the same for the whole process. */
function addressOf(host = "", port: number | string = "", database = ""): string {
  return `postgres://${host}:${port || 5432}/${database}`;
}
