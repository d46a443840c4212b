import * as v from "valibot";
import { defineTask } from "../../../src/index.ts";

/** A definition whose schema is asynchronous. */
export const later = defineTask({
  name: "later",
  payload: v.objectAsync({
    n: v.pipeAsync(
      v.number(),
      v.checkAsync(async (n) => n > 0),
    ),
  }),
});
