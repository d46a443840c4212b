import { NO_SIZES, type SizeTracking } from "../../core/operations/claim-response-size.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";

/**
 * What past claims of a worker found: fleet-wide limits, expired tasks and large tasks. Each drain leaves it to the
 * worker's next one.
 */
export class ClaimMemory {
  #limited = false;
  #expired = false;
  #sizes: SizeTracking = NO_SIZES;

  /** Whether due tasks have fleet-wide limits. */
  get limited(): boolean {
    return this.#limited;
  }

  /** Whether tasks have expired that no worker has ended yet. */
  get expired(): boolean {
    return this.#expired;
  }

  get sizes(): SizeTracking {
    return this.#sizes;
  }

  update({ limited, expired, sizes }: Pick<ClaimResult, "limited" | "expired" | "sizes">): void {
    this.#limited = limited;
    this.#expired = expired;
    this.#sizes = sizes;
  }
}
