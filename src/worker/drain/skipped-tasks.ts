import type { ClaimResult, UnhandledTasks } from "../../core/operations/claim-result.ts";
import type { SkippedTasks } from "../drain-summary.ts";
import { type Logger, log } from "../logger.ts";

/** Most entries of `skipped`. */
const MAX_SKIPPED = 20;
/** Most names that a warning lists. */
const MAX_NAMES = 5;

/** Whether this process has logged that due tasks have no handler. */
let hasWarned = false;

/** Collects the due tasks that a drain does not claim, and why: no handler, too long a run, or too large. */
export class TaskSkips {
  readonly #logger: Logger | null | undefined;
  readonly #tooLong = new Set<string>();
  readonly #skipped = new Map<string, SkippedTasks>();
  #unhandled: readonly UnhandledTasks[] = [];

  /** `tooLong`: names whose declared run does not fit into the drain. */
  constructor(logger: Logger | null | undefined, tooLong: readonly string[]) {
    this.#logger = logger;
    this.skipNames(tooLong);
  }

  /** Notes names whose declared run does not fit. Returns whether one of them is new. */
  skipNames(tooLong: readonly string[]): boolean {
    const known = this.#tooLong.size;
    for (const name of tooLong) {
      this.#tooLong.add(name);
      this.#skip({ name, reason: "maxRunMs" });
    }
    return this.#tooLong.size > known;
  }

  get unhandled(): readonly UnhandledTasks[] {
    return this.#unhandled;
  }

  get skipped(): readonly SkippedTasks[] {
    return [...this.#skipped.values()];
  }

  /** Notes the tasks that a claim found and could not bring. */
  add({ unhandled, oversized }: Pick<ClaimResult, "unhandled" | "oversized">): void {
    for (const { id, name } of oversized) this.#skip({ name, id, reason: "maxResponseBytes" });
    if (unhandled === null) return;
    this.#unhandled = unhandled.filter(({ name }) => !this.#tooLong.has(name));
    if (this.#unhandled.length > 0 && this.#logger && !hasWarned) this.#warn();
  }

  #warn(): void {
    hasWarned = true;
    const list = this.#unhandled.slice(0, MAX_NAMES).map(({ name, queue, tasks }) => {
      return `"${name}" (${tasks < 100 ? tasks : "100 or more"} in the queue "${queue}")`;
    });
    const rest = this.#unhandled.length > MAX_NAMES ? " and others" : "";
    const nextStep = "register a handler with worker.task, or run a worker that has one";
    log(
      this.#logger,
      "warn",
      `tasks are due that this worker has no handler for: ${list.join(", ")}${rest}; ${nextStep}`,
    );
  }

  #skip(skipped: SkippedTasks): void {
    if (this.#skipped.size < MAX_SKIPPED) this.#skipped.set(`${skipped.id}\0${skipped.name}`, skipped);
  }
}
