import { NO_SIZES } from "../../core/operations/claim-response-size.ts";
import type { ClaimResult } from "../../core/operations/claim-result.ts";

/** What a claim finds out for the next one. */
type Findings = Pick<ClaimResult, "limited" | "sizes">;

/**
 * What past claims of a worker found: fleet-wide limits and large tasks. Each drain leaves it to the worker's next one.
 */
export class ClaimMemory {
  #findings: Findings = { limited: false, sizes: NO_SIZES };

  /** `limited`: whether due tasks have fleet-wide limits. */
  get findings(): Findings {
    return this.#findings;
  }

  update({ limited, sizes }: Findings): void {
    this.#findings = { limited, sizes };
  }
}
