/** The schedules that a worker defines in code, and whether the database has them. */

import type { JsonTarget } from "../../core/json/json.ts";
import type { GroupDefinitions, ScheduleReport, ScheduleRow } from "../../core/operations/schedules.ts";
import { type CheckedSchedule, scheduleRow } from "../../producer/schedules/check-schedule.ts";
import { slotsOf } from "../../schedules/slots.ts";

/** What `prepare` computes once. */
interface Prepared {
  readonly rows: readonly ScheduleRow[];
  readonly fingerprint: string;
}

/** Shared by all drains of a worker: its definitions are stored by the first of them. */
export class CodeSchedules {
  readonly group: string;
  readonly revision: number;
  readonly #schedules: ReadonlyMap<string, CheckedSchedule>;
  #prepared: Prepared | null = null;
  #isStored = false;

  constructor(group: string, revision: number, schedules: readonly CheckedSchedule[]) {
    this.group = group;
    this.revision = revision;
    this.#schedules = new Map(schedules.map((schedule) => [schedule.name, schedule]));
  }

  get(name: string): CheckedSchedule | undefined {
    return this.#schedules.get(name);
  }

  /** Whether the rows are computed, before which a claim cannot say whether they are stored. */
  get isPrepared(): boolean {
    return this.#prepared !== null || this.#isStored;
  }

  /** Differs between definitions; null before `prepare`, or if a definition is wrong. */
  get fingerprint(): string | null {
    return this.#prepared?.fingerprint ?? null;
  }

  /** Computes the rows. @throws {InvalidArgument} if a payload or an option is wrong; then nothing is ever stored. */
  async prepare(target: JsonTarget): Promise<void> {
    try {
      const sorted = [...this.#schedules.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      const rows = await Promise.all(sorted.map((schedule) => scheduleRow(target, schedule)));
      this.#prepared = { rows, fingerprint: await sha256(JSON.stringify(rows)) };
    } catch (error) {
      this.#isStored = true;
      throw error;
    }
  }

  /** Notes what a claim reports of the group. */
  note(group: ScheduleReport["group"]): void {
    const fingerprint = this.#prepared?.fingerprint;
    if (group !== null && (group.fingerprint === fingerprint || group.revision > this.revision))
      this.#isStored = true;
  }

  /** Whether the definitions are to be stored: once only, so that two deployments do not take turns. */
  get mustStore(): boolean {
    return !this.#isStored && this.#prepared !== null;
  }

  /** The database has stored them, or refused them for a newer revision. */
  stored(): void {
    this.#isStored = true;
  }

  /** What to store, with the first slot of each schedule after `nowMs`, a time of the database. */
  async definitions(nowMs: number): Promise<GroupDefinitions> {
    const { rows, fingerprint } = this.#prepared!;
    const withFirst = async (row: ScheduleRow) => {
      const next = await slotsOf(row.timing);
      return { ...row, first: { from_ms: nowMs, next_at_ms: next(nowMs) } };
    };
    const all = await Promise.all(rows.map(withFirst));
    return { group: this.group, revision: this.revision, fingerprint, rows: all };
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
