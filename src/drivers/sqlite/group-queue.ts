import type { Row, Statement } from "../../core/executor.ts";

/** One caller's statements, waiting for their turn. */
export interface Member {
  readonly statements: readonly Statement[];
  readonly mayBeLost?: boolean | undefined;
  readonly resolve: (results: Row[][]) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of one member of a group that was committed. */
export type Outcome = { results: Row[][] } | { error: unknown };

export interface GroupQueue {
  /** Settles the member once the group that holds it is committed. */
  add(member: Member): void;
  /** Resolves when nothing is waiting any more. */
  idle(): Promise<void>;
}

/**
 * Collects what concurrent callers submit and hands it to `execute` as one group, in order.
 *
 * A group is closed in the microtask after its first member, so a caller who is alone waits for nothing. A
 * group holds at most `maxStatements` (a single larger member is its own group); between full groups the
 * event loop gets a turn. If `execute` fails, nothing of the group was committed and all members reject.
 */
export function groupQueue(
  execute: (group: readonly Member[]) => readonly Outcome[] | Promise<readonly Outcome[]>,
  maxStatements: number,
): GroupQueue {
  let waiting: Member[] = [];
  let pump: Promise<void> | undefined;

  function take(): Member[] {
    let count = 0;
    const end = waiting.findIndex((member, index) => {
      count += member.statements.length;
      return index > 0 && count > maxStatements;
    });
    const group = end === -1 ? waiting : waiting.slice(0, end);
    waiting = end === -1 ? [] : waiting.slice(end);
    return group;
  }

  async function drain(): Promise<void> {
    await undefined; // the callers of this tick join the first group
    while (waiting.length > 0) {
      const group = take();
      const isFull = waiting.length > 0;
      try {
        const outcomes = execute(group);
        settle(group, outcomes instanceof Promise ? await outcomes : outcomes);
      } catch (error) {
        for (const member of group) member.reject(error);
      }
      if (isFull) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    pump = undefined;
  }

  return {
    add(member) {
      waiting.push(member);
      pump ??= drain();
    },
    async idle() {
      await pump;
    },
  };
}

function settle(group: readonly Member[], outcomes: readonly Outcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    const member = group[index]!;
    if ("error" in outcome) member.reject(outcome.error);
    else member.resolve(outcome.results);
  }
}
