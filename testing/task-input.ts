/** One element of the `tasks_json` parameter. */
export interface TaskInput {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly metadata: Record<string, unknown>;
  readonly max_attempts: number;
  readonly max_crashes: number;
  readonly priority: number;
  readonly run_at_ms: number | null;
  readonly delay_ms: number | null;
  readonly expires_in_ms?: number | null;
  readonly parent_id: string | null;
  readonly root_id: string | null;
  readonly correlation_id: string | null;
  readonly concurrency_key?: string;
  readonly key: string | null;
  readonly conflict: "reuse" | "reuse-succeeded" | "reject" | "replace" | "debounce" | null;
  readonly max_delay_ms?: number | undefined;
  readonly throttle_ms?: number | undefined;
}

export function taskInput(id: string, fields: Partial<TaskInput> = {}): TaskInput {
  return {
    id,
    name: "resize",
    queue: "default",
    payload: {},
    metadata: {},
    max_attempts: 3,
    max_crashes: 3,
    priority: 0,
    run_at_ms: null,
    delay_ms: 0,
    parent_id: null,
    root_id: null,
    correlation_id: null,
    key: null,
    conflict: null,
    ...fields,
  };
}

/** A random source that repeats itself for the same seed. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The parameters of a claim that a test does not care about. */
export const PLAIN_CLAIM = { holds: 0, max_task_bytes: null, weighs: 0, scope: null };
