import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["testing/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2, // most files wait for a database, and by default a machine of two cores runs one at a time
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Workers log final failures and late errors, and many tests make some on purpose.
    onConsoleLog: (text) => (/^wadi: (?:task|the handler of task) /.test(text) ? false : undefined),
    coverage: { enabled: false },
  },
});
