import { targets } from "../support/targets.ts";
import { testExecutor } from "./contract.ts";

for (const target of targets) testExecutor(target);
