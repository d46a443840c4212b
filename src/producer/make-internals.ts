/** Makes the parts of a `Wadi`, and connects them. */

import type { Executor } from "../core/executor.ts";
import { Session } from "../core/session/session.ts";
import { text } from "../core/validate.ts";
import { Background } from "./background.ts";
import { HintCells } from "./hint/hint-cells.ts";
import type { WadiInternals } from "./internals.ts";
import { Notifier } from "./notify/notifier.ts";
import { checkScope } from "./scope.ts";
import { Submitter } from "./submit/submitter.ts";
import type { WadiOptions } from "./wadi-options.ts";
import { Waker } from "./wake/waker.ts";

/** @throws {InvalidArgument} if an option is of the wrong type or out of range. */
export function makeInternals(executor: Executor, options: WadiOptions): WadiInternals {
  const { database, wake } = options;
  const session = new Session(executor, { ...options, scope: checkScope(options.scope) });
  const notifier = new Notifier(executor, database === undefined ? undefined : text("database", database));
  const background = new Background(options);
  const waker = Waker.of(session, wake, background);
  const hint = HintCells.of(options.hint, background);
  const submitter = new Submitter({ session, notifier, waker, hint }, options);
  return { executor, session, notifier, submitter, waker, hint };
}
