/** The part of a wait that concerns one id or key. */
import { byteLength } from "../../core/json/json.ts";
import type { TaskRef } from "../../core/operations/read.ts";

/** One id or key that a wait is for, and what is known of its task. */
export class AwaitedRef<Wait> {
  readonly wait: Wait;
  readonly ref: TaskRef;
  #id: string | null = null;
  #unsubscribe: () => void = () => {};
  #rowId: string | null = null;
  #isReading = false;
  #rowRequestedAtMs = 0;
  #bytes: number | undefined;

  constructor(wait: Wait, ref: TaskRef) {
    this.wait = wait;
    this.ref = ref;
  }

  /** The id or the key. */
  get value(): string {
    return "id" in this.ref ? this.ref.id : this.ref.key;
  }

  /** Bytes that it takes in a JSON array. */
  get bytes(): number {
    this.#bytes ??= byteLength(JSON.stringify(this.value)) + 1;
    return this.#bytes;
  }

  /** The task whose end is subscribed to; null while a key has not been resolved. */
  get id(): string | null {
    return this.#id;
  }

  /** The task whose row is to be read; null if the key has to be resolved first. */
  get rowId(): string | null {
    return this.#rowId;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  get rowRequestedAtMs(): number {
    return this.#rowRequestedAtMs;
  }

  /** Subscribes to the end of this task in place of the one before. False if it is the same. */
  follow(id: string, subscribe: (id: string) => () => void): boolean {
    if (this.#id === id) return false;
    this.#unsubscribe();
    this.#id = id;
    this.#unsubscribe = subscribe(id);
    return true;
  }

  unsubscribe(): void {
    this.#unsubscribe();
  }

  /** Its row is to be read. */
  requestRow(id: string | null, nowMs: number): void {
    this.#rowId = id;
    this.#rowRequestedAtMs = nowMs;
    this.resumeReading();
  }

  /** Its key was resolved to this task; null: the key has none. */
  resolveRow(id: string | null): void {
    this.#rowId = id;
  }

  /** The row is asked for again. */
  resumeReading(): void {
    this.#isReading = true;
  }

  /** The request for its row has ended. */
  stopReading(): void {
    this.#isReading = false;
  }
}
