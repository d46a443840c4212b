/** A client whose methods all fail, for tests of what a driver does before it sends anything. */
export function offlineClient<Client>(fields: object = {}): Client {
  const get = (_: unknown, name: string) => {
    if (Object.hasOwn(fields, name)) return (fields as Record<string, unknown>)[name];
    return () => {
      throw new Error(`${name}() was called on a client that is offline`);
    };
  };
  return new Proxy(fields, { get: get as never }) as Client;
}
