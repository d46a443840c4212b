/** The part of a wait that concerns one id or key. */
import { byteLength } from "../../core/json/json.ts";
import type { TaskRef } from "../../core/operations/read.ts";

/** One id or key that a wait is for, and what is known of its task. */
export class AwaitedRef<Wait> {
  readonly wait: Wait;
  readonly ref: TaskRef;
  #id: string | null = null;
  #unsubscribe: () => void = () => {};
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
}
