import { InvalidArgument } from "../core/errors/errors.ts";
import type { Route } from "./routes.ts";

/**
 * Refuses a query parameter that the route does not take or that is given twice, so that none is ignored.
 *
 * @throws {InvalidArgument} naming the parameter.
 */
export function checkQuery({ url }: Request, { query }: Route): void {
  const seen = new Set<string>();
  for (const name of new URL(url).searchParams.keys()) {
    const known = query.join(", ") || "none";
    if (!query.includes(name)) {
      throw new InvalidArgument(
        `this route has no query parameter "${name.slice(0, 40)}"; it takes ${known}`,
      );
    }
    if (seen.has(name)) throw new InvalidArgument(`the query has ${name} more than once; pass it once`);
    seen.add(name);
  }
}
