// The contract of an executor, on every database.

import { testExecutor } from "../../testing/driver-contract.ts";
import { targets } from "../../testing/targets.ts";

for (const target of targets) testExecutor(target);
