import type { ClaimResult, UnhandledTasks } from "../../core/operations/claim-result.ts";
import type { SkippedTasks } from "../drain-summary.ts";
import { type Logger, log } from "../logger.ts";

/** Most entries of `skipped`. */
const MAX_SKIPPED = 20;
/** Names that a warning lists. */
const MAX_NAMES = 5;

/** Whether this process was warned that tasks have no handler. */
let hasWarned = false;

/** Why tasks that are due are not claimed by a drain. */
export class LeftOut {
  readonly #logger: Logger | null | undefined;
  readonly #skipped = new Map<string, SkippedTasks>();
  #unhandled: readonly UnhandledTasks[] = [];

  constructor(logger: Logger | null | undefined) {
    this.#logger = logger;
  }

  get unhandled(): readonly UnhandledTasks[] {
    return this.#unhandled;
  }

  get skipped(): readonly SkippedTasks[] {
    return [...this.#skipped.values()];
  }

  /** Names whose declared run does not fit into the drain. */
  skip(names: readonly string[]): void {
    for (const name of names) this.#skip({ name, reason: "maxRunMs" });
  }

  /** Takes in what a claim says of tasks that it could not bring. */
  learn({ unhandled, oversized }: Pick<ClaimResult, "unhandled" | "oversized">): void {
    for (const { id, name } of oversized) this.#skip({ name, id, reason: "maxResponseBytes" });
    if (unhandled === null) return;
    const isSkipped = (name: string) => this.skipped.some((skipped) => skipped.name === name && !skipped.id);
    this.#unhandled = unhandled.filter(({ name }) => !isSkipped(name));
    if (this.#unhandled.length > 0 && this.#logger && !hasWarned) this.#warn();
  }

  #warn(): void {
    hasWarned = true;
    const list = this.#unhandled.slice(0, MAX_NAMES).map(({ name, queue, tasks }) => {
      return `"${name}" (${tasks < 100 ? tasks : "100 or more"} in the queue "${queue}")`;
    });
    const rest = this.#unhandled.length > MAX_NAMES ? " and others" : "";
    log(
      this.#logger,
      "warn",
      `tasks are due that this worker has no handler for: ${list.join(", ")}${rest}; register a handler with worker.task, or run a worker that has one`,
    );
  }

  #skip(skipped: SkippedTasks): void {
    if (this.#skipped.size < MAX_SKIPPED) this.#skipped.set(`${skipped.id}\0${skipped.name}`, skipped);
  }
}
