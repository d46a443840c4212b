// Types of transactional submits.

import type { InStatement } from "@libsql/client";
import type { NeonQueryFunction, NeonQueryPromise } from "@neondatabase/serverless";
import { expectTypeOf, test } from "vitest";
import { betterSqlite3 } from "../../src/drivers/better-sqlite3.ts";
import { type D1Like, type D1StatementLike, d1 } from "../../src/drivers/d1.ts";
import { libsql } from "../../src/drivers/libsql.ts";
import { neonHttp } from "../../src/drivers/neon.ts";
import { pg } from "../../src/drivers/pg.ts";
import { type CanceledTask, defineTask, type Kickable, type SubmittedTask, Wadi } from "../../src/index.ts";

// Checked by the compiler; nothing here runs.
const plain = defineTask<{ url: string }, { bytes: number }>({ name: "plain" });
type Submitted = SubmittedTask<{ url: string }, { bytes: number }>;

/** A statement of D1 that can do more than Wadi needs. */
interface Prepared extends D1StatementLike {
  bind(...values: unknown[]): Prepared;
  first(): Promise<unknown>;
}
interface Clients {
  readonly d1: D1Like<Prepared>;
  readonly libsql: Parameters<typeof libsql>[0];
  readonly neon: NeonQueryFunction<false, false>;
  readonly sqlite: Parameters<typeof betterSqlite3>[0];
  readonly pg: Parameters<typeof pg>[0];
}

test("statements have the type of the client's statements", () => {
  const _ = async (clients: Clients) => {
    const onD1 = await new Wadi(d1(clients.d1)).statements.submit(plain, { url: "x" });
    expectTypeOf(onD1.statements).toEqualTypeOf<Prepared[]>();
    expectTypeOf(onD1.id).toEqualTypeOf<string>();
    expectTypeOf(onD1.read([])).toEqualTypeOf<Submitted>();
    const onLibsql = await new Wadi(libsql(clients.libsql)).statements.submitMany(plain, [
      { payload: { url: "x" } },
    ]);
    expectTypeOf(onLibsql.statements[0]!).toExtend<InStatement>();
    expectTypeOf(onLibsql.ids).toEqualTypeOf<string[]>();
    expectTypeOf(onLibsql.read([])).toEqualTypeOf<Submitted[]>();
    const onNeon = await new Wadi(neonHttp(clients.neon)).statements.submit("a", 1);
    expectTypeOf(onNeon.statements[0]!).toExtend<NeonQueryPromise<false, false>>();
    const { statements } = new Wadi(d1(clients.d1));
    // @ts-expect-error: a field of the payload is missing
    statements.submit(plain, {});
    // @ts-expect-error: there is no such option
    statements.submit(plain, { url: "x" }, { prio: 1 });
    // @ts-expect-error: entries are typed too
    statements.submitMany(plain, [{ payload: {} }]);
    // @ts-expect-error: an id is a text
    statements.cancel(5);
  };
});

test("a transaction is synchronous if its client is", () => {
  const _ = async ({ sqlite, pg: client }: Clients, tx: unknown) => {
    const now = new Wadi(betterSqlite3(sqlite)).with(tx);
    expectTypeOf(now.submit(plain, { url: "x" })).toEqualTypeOf<Submitted & Kickable>();
    expectTypeOf(now.cancel("task_x")).toEqualTypeOf<CanceledTask | null>();
    const later = new Wadi(pg(client)).with(tx);
    expectTypeOf(later.submit(plain, { url: "x" })).toEqualTypeOf<Promise<Submitted & Kickable>>();
    expectTypeOf(later.submitMany("a", [{ payload: 1 }])).toEqualTypeOf<
      Promise<SubmittedTask[] & Kickable>
    >();
    // @ts-expect-error: a field of the payload is missing
    later.submit(plain, {});
    // @ts-expect-error: there is no such option
    now.submit("a", 1, { prio: 1 });
    // @ts-expect-error: a wait belongs behind the commit
    now.wait("task_x");
  };
});
