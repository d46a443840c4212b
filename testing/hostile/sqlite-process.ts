// Runs the rounds on one SQLite engine in a separate process: a statement that never ends can only be killed.
import { createClient } from "@libsql/client";
import { libsql } from "../../src/drivers/libsql.ts";
import { openDialect, openSqlite } from "../statement-clients.ts";
import { checkRounds } from "./property.ts";

const [, , engine, rounds] = process.argv;

const client =
  engine === "libsql"
    ? await openSqlite(libsql(createClient({ url: ":memory:" })))
    : await openDialect("sqlite");
process.stdout.write(String(await checkRounds("sqlite", client, Number(rounds))));
