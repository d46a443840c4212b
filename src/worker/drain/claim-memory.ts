import { NO_SIZES } from "../../core/operations/claim-response-size.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";

/** What a claim finds out for the next one. */
type Findings = Pick<ClaimResult, "limited" | "expired" | "sizes">;

/**
 * What past claims of a worker found: fleet-wide limits, expired tasks and large tasks. Each drain leaves it to the
 * worker's next one.
 */
export class ClaimMemory {
  #findings: Findings = { limited: false, expired: false, sizes: NO_SIZES };

  /**
   * `limited`: whether due tasks have fleet-wide limits. `expired`: whether tasks have expired that no worker has ended
   * yet.
   */
  get findings(): Findings {
    return this.#findings;
  }

  update({ limited, expired, sizes }: Findings): void {
    this.#findings = { limited, expired, sizes };
  }
}
