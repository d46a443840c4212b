import type { ClaimResult } from "../../core/operations/claim-result.ts";
import type { SettleResult } from "../../core/operations/settle.ts";
import type { Attempt } from "../handler/attempt.ts";
import type { DrainSettings } from "./drain-options.ts";
import type { HeldTasks } from "./held-tasks.ts";
import type { Intake } from "./intake.ts";
import type { Outlook } from "./outlook.ts";
import type { PollSchedule } from "./poll-schedule.ts";
import type { QueryBudget } from "./query-budget.ts";
import type { Cycle } from "./round-trips.ts";
import type { Tally } from "./tally.ts";

export interface ExchangeParts {
  readonly plan: DrainSettings;
  readonly tally: Tally;
  readonly hand: HeldTasks;
  readonly intake: Intake;
  readonly outlook: Outlook;
  readonly polls: PollSchedule;
  readonly budget: QueryBudget;
  /** When handlers are stopped, on the monotonic clock. */
  readonly stopAtMs: number;
}

/** What a round trip settles and asks for, and what its answer and the news between round trips mean for the next. */
export class Exchange {
  readonly #parts: ExchangeParts;
  readonly #queues: ReadonlySet<string>;
  #hasNews = false;
  /** The news is that of its own settlements. */
  #isDeaf = false;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#queues = new Set(parts.plan.registrations.flatMap(({ queues }) => queues));
  }

  /** Whether queues got tasks that no claim has asked for yet. */
  get hasNews(): boolean {
    return this.#hasNews;
  }

  /** Queues got tasks; null: it is not known which. False if that is no news. */
  hear(queues: readonly string[] | null): boolean {
    if (this.#isDeaf || (queues !== null && !queues.some((queue) => this.#queues.has(queue)))) return false;
    this.#hasNews = true;
    this.#parts.outlook.changed();
    return true;
  }

  /** Tasks have ended, or are queued again, after the last claim: more of those that wait for a limit may start. */
  changed(): void {
    const { outlook, intake } = this.#parts;
    outlook.changed();
    if (outlook.limited) intake.becomeHungry();
  }

  compose(nowMs: number): Cycle {
    const { plan, hand, intake, outlook, polls, budget, stopAtMs } = this.#parts;
    const attempts = hand.takeOutbox();
    const isEndless = plan.endless !== null;
    const isBack = attempts.some(({ settlement }) => "delayMs" in (settlement as object));
    const foundAll = attempts.length > 0 && !isBack && !this.#hasNews && intake.foundAll;
    // The last tasks there were are settled before the next poll, so that waiters are notified sooner. Where tasks wait
    // for a limit, those were not the last: their end has made room.
    const settlesFirst = isEndless && hand.isEmpty && foundAll && !outlook.limited;
    if (settlesFirst) polls.soon();
    const { hasRoom } = intake;
    const looks = (isBack || (hand.isEmpty && !isEndless)) && budget.mayLook;
    const claims = !settlesFirst && (hasRoom || looks);
    if (claims) {
      if (hasRoom) this.#hasNews = false;
      polls.cancel();
      outlook.passRetries(nowMs);
    }
    const { limited, sizes } = plan.learned;
    const claimOnly = budget.isBrief && hasRoom && attempts.length > 0 && !limited && !sizes.measures;
    const starts = hand.company.announce();
    const request = claims ? intake.request(stopAtMs - nowMs, claimOnly) : null;
    return { attempts, starts, request, sentAtMs: nowMs, version: outlook.version, resent: false };
  }

  answered(cycle: Cycle, [settled, claimed]: readonly [readonly SettleResult[], ClaimResult | null]): void {
    this.#settle(cycle.attempts, settled, claimed);
    this.#start(cycle.starts, settled.slice(cycle.attempts.length));
    if (claimed !== null) this.#take(claimed, cycle);
  }

  /** Without an answer to an announcement it is made again. */
  #start(starts: readonly Attempt[], stored: readonly SettleResult[]): void {
    const { hand } = this.#parts;
    const lost = new Set(starts.filter((_, i) => stored[i]?.status === null));
    if (lost.size > 0) hand.lose((attempt) => lost.has(attempt));
    hand.company.announced(starts.filter((attempt, i) => i < stored.length && !lost.has(attempt)));
  }

  #settle(attempts: readonly Attempt[], settled: readonly SettleResult[], claimed: ClaimResult | null): void {
    const { plan, outlook, tally, stopAtMs } = this.#parts;
    this.#isDeaf = claimed !== null; // the claim of the same round trip saw what is queued again
    tally.settle(attempts, settled);
    this.#isDeaf = false;
    if (claimed === null || claimed.claimOnly) this.changed();
    if (plan.endless === null) outlook.settled(attempts, settled, stopAtMs);
  }

  #take(claimed: ClaimResult, { request, sentAtMs, version }: Cycle): void {
    const { plan, hand, intake, outlook, polls, tally } = this.#parts;
    tally.recover(claimed.recovered);
    hand.add(claimed, request!, sentAtMs);
    if (claimed.tasks.length > 0) polls.found();
    if (claimed.claimOnly) return;
    outlook.learn(claimed, version);
    tally.leftOut.learn(claimed);
    const { limited, sizes, skippedLarge, resent } = claimed;
    // One that was sent again only says what an earlier try claimed.
    if (resent || skippedLarge || (limited && !request!.limited)) intake.becomeHungry();
    Object.assign(plan.learned, { limited, sizes });
  }
}
