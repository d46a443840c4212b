// The storage of a Durable Object in workerd, as a target of tests.

import { openDurableObject } from "../durable-object.ts";
import type { Target } from "../target.ts";

export const durableObject: Target = {
  name: "durable-object",
  dialect: "sqlite",
  async open() {
    const { executor, meter, close } = await openDurableObject();
    return { executor, connect: async () => executor, meter, close: async () => close() };
  },
};
