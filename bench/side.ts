/** One side of a comparison: Wadi, or the raw driver doing the same minimal writes. */
export interface Side {
  /** Queues one task; resolves when it is committed. */
  submit(): Promise<void>;
  /** Queues `count` tasks as the fastest way in. */
  submitMany(count: number): Promise<void>;
  /** Queues one task under a new key, with the check that it is new. */
  submitNewKey(): Promise<void>;
  /** Submits under a key that has a live task, finds that task and reads it. */
  submitExistingKey(): Promise<void>;
  /** Claims, runs and settles until nothing is due, `concurrency` tasks a round. */
  drain(concurrency: number): Promise<void>;
  /** The same with up to `ahead` tasks claimed before they have a slot; every result is kept, every write fenced. */
  drainAhead(concurrency: number, ahead: number): Promise<void>;
  /** Claims up to `count` tasks and releases them. */
  claim(count: number): Promise<void>;
  /** Claims from a queue in which nothing is due. */
  poll(): Promise<void>;
  /** One task from submit to the result read back. */
  call(): Promise<void>;
  /** Starts a worker and a caller that wait for notifications. */
  serve(): Promise<Served>;
  /** Deletes all tasks. */
  clear(): Promise<void>;
  /** Fills the table: due, not yet due and finished tasks. */
  fill(backlog: Backlog): Promise<void>;
  close(): Promise<void>;
}

export interface Served {
  /** One task from submit to its result; the worker is notified of the task, and the caller of the result. */
  call(): Promise<void>;
  stop(): Promise<void>;
}

export interface Backlog {
  readonly due: number;
  readonly notDue: number;
  readonly finished: number;
}

/** The queue and name of the tasks a side drains. */
export const QUEUE = "default";
export const NAME = "bench";
/** A queue in which nothing is ever due. */
export const IDLE_QUEUE = "idle";
/** 200 bytes of JSON, the size of a small payload. */
export const PAYLOAD = { text: "x".repeat(189) };
