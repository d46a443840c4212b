// Definitions that several tests of the types share: one with types only, one with schemas that convert.

import * as v from "valibot";
import { defineTask } from "../../src/index.ts";

export const plain = defineTask<{ url: string }, { bytes: number }>({ name: "plain" });
export const checked = defineTask({
  name: "checked",
  payload: v.object({ n: v.pipe(v.string(), v.transform(Number)) }),
  result: v.object({ ok: v.boolean() }),
});
