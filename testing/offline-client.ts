/** A client that has every method and can do nothing, for what a driver tells without it. */
export function offlineClient<Client>(fields: object = {}): Client {
  const get = (_: unknown, name: string) => {
    if (Object.hasOwn(fields, name)) return (fields as Record<string, unknown>)[name];
    return () => {
      throw new Error(`${name}() was called on a client that is offline`);
    };
  };
  return new Proxy(fields, { get: get as never }) as Client;
}
