// Collects the statements of concurrent callers into groups, which group-commit.ts commits together.

import type { Row, Statement } from "../../core/executor.ts";

/** One caller's statements, waiting to be run. */
export interface GroupMember {
  readonly statements: readonly Statement[];
  readonly mayBeLost?: boolean | undefined;
  readonly resolve: (results: Row[][]) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of one member of a group that was committed. */
export type Outcome = { results: Row[][] } | { error: unknown };

/** Most statements of a group, except that a single member may have more. */
const MAX_STATEMENTS = 1000;

type Execute = (group: readonly GroupMember[]) => readonly Outcome[] | Promise<readonly Outcome[]>;

/**
 * Collects the statements of concurrent callers and passes them to `execute` as one group, in order, so that they share
 * a commit.
 *
 * A group is closed in the microtask after its first member, so a single caller does not wait. A group has at most
 * `MAX_STATEMENTS` (a larger member is a group by itself); between full groups the event loop gets a turn. If `execute`
 * fails, nothing of the group was committed and all its members reject.
 */
export class GroupQueue {
  readonly #execute: Execute;
  #waiting: GroupMember[] = [];
  #flushing: Promise<void> | undefined;

  constructor(execute: Execute) {
    this.#execute = execute;
  }

  /** Adds a member, which is settled once its group is committed. */
  add(member: GroupMember): void {
    this.#waiting.push(member);
    this.#flushing ??= this.#flush();
  }

  /** Resolves when no member is waiting any more. */
  async idle(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await undefined; // the callers of this tick join the first group
    while (this.#waiting.length > 0) {
      const group = this.#take();
      const isFull = this.#waiting.length > 0;
      try {
        const outcomes = this.#execute(group);
        settle(group, outcomes instanceof Promise ? await outcomes : outcomes);
      } catch (error) {
        for (const member of group) member.reject(error);
      }
      if (isFull) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#flushing = undefined;
  }

  #take(): GroupMember[] {
    const waiting = this.#waiting;
    let count = 0;
    const end = waiting.findIndex((member, index) => {
      count += member.statements.length;
      return index > 0 && count > MAX_STATEMENTS;
    });
    this.#waiting = end === -1 ? [] : waiting.slice(end);
    return end === -1 ? waiting : waiting.slice(0, end);
  }
}

function settle(group: readonly GroupMember[], outcomes: readonly Outcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    const member = group[index]!;
    if ("error" in outcome) member.reject(outcome.error);
    else member.resolve(outcome.results);
  }
}
