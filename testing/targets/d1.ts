// D1 in workerd, as a target of tests.

import { d1 as d1Driver } from "../../src/drivers/d1.ts";
import { openD1 } from "../d1.ts";
import type { Target } from "../target.ts";

export const d1: Target = {
  name: "d1",
  dialect: "sqlite",
  async open() {
    const { binding, meter, close } = await openD1();
    return {
      executor: d1Driver(binding),
      connect: async () => d1Driver(binding),
      meter,
      close: async () => close(),
    };
  },
};
