import { NO_SIZES, type SizeTracking } from "../../core/operations/claim-response-size.ts";

/**
 * What past claims of a worker found: fleet-wide limits and large tasks. Each drain leaves it to the worker's next one.
 */
export class ClaimMemory {
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
