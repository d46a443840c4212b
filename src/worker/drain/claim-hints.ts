import { NO_SIZES, type SizeTracking } from "../../core/operations/large-tasks.ts";

/**
 * What the answers of a worker's claims say about how to claim next. The drains of a worker hand it on to each other.
 */
export class ClaimHints {
  #limited = false;
  #sizes: SizeTracking = NO_SIZES;

  /** Whether due tasks have fleet-wide limits. */
  get limited(): boolean {
    return this.#limited;
  }

  get sizes(): SizeTracking {
    return this.#sizes;
  }

  update(limited: boolean, sizes: SizeTracking): void {
    this.#limited = limited;
    this.#sizes = sizes;
  }
}
