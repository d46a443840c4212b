import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import Database from "better-sqlite3";
import { HranaError, toHranaError } from "./hrana-engine.ts";

/** A request that breaks the protocol, or a stream that is gone: answered by an HTTP status, not in the pipeline. */
export class StreamError extends Error {
  readonly status = 400;
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

const WRITER_TURN_MS = 5000;

/** One stream: its connection, the SQL texts stored on it, and the batons that continue it. */
export class Stream {
  readonly db: Database.Database;
  readonly sqls = new Map<number, string>();
  readonly id = randomBytes(8).toString("hex");
  sequence = 0;
  writingSince = 0;
  lostTurn = false;
  closed = false;
  inUse = true;
  expiry: NodeJS.Timeout | undefined;

  constructor(db: Database.Database) {
    this.db = db;
  }
}

/** The streams of one database file. Writers take turns: the next waits until the one before is done. */
export class Streams {
  readonly #path: string;
  readonly #expiryMs: number;
  readonly #key = randomBytes(32);
  readonly #open = new Map<string, Stream>();
  readonly #expired = new Set<string>();
  readonly #idle: Database.Database[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(path: string, expiryMs: number) {
    this.#path = path;
    this.#expiryMs = expiryMs;
    this.#idle.push(this.#connect());
  }

  acquire(baton: string | null | undefined): Stream {
    if (baton == null) {
      const stream = new Stream(this.#idle.pop() ?? this.#connect());
      this.#open.set(stream.id, stream);
      return stream;
    }
    const [id = "", sequence = "", mac = ""] = baton.split(".");
    const expected = this.#sign(id, Number(sequence));
    if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) {
      throw new StreamError("Received an invalid baton");
    }
    if (this.#expired.has(id)) {
      throw new StreamError("The stream has expired due to inactivity", "STREAM_EXPIRED");
    }
    const stream = this.#open.get(id);
    if (stream === undefined) throw new StreamError("Received an invalid baton");
    if (stream.inUse || stream.sequence !== Number(sequence))
      throw new StreamError("Received a reused baton");
    clearTimeout(stream.expiry);
    stream.inUse = true;
    stream.sequence++;
    return stream;
  }

  /** Ends one HTTP request; returns the baton for the next, or null if the stream is closed. */
  release(stream: Stream): string | null {
    if (stream.closed) {
      this.drop(stream);
      return null;
    }
    stream.inUse = false;
    stream.expiry = setTimeout(() => {
      this.#expired.add(stream.id);
      this.drop(stream);
    }, this.#expiryMs);
    stream.expiry.unref();
    return `${stream.id}.${stream.sequence}.${this.#sign(stream.id, stream.sequence)}`;
  }

  drop(stream: Stream): void {
    if (!this.#open.delete(stream.id)) return;
    if (stream.db.inTransaction) {
      stream.db.exec("rollback");
      this.#waiting.shift()?.();
    }
    this.#idle.push(stream.db);
  }

  /** Runs one statement after the previous writer. A writer that blocks others for too long is rolled back. */
  async inTurn<T>(stream: Stream, work: () => T): Promise<T> {
    for (;;) {
      if (stream.lostTurn) {
        stream.lostTurn = false;
        throw new HranaError("TRANSACTION_TIMEOUT", "Transaction timed out");
      }
      const wasWriting = stream.db.inTransaction;
      try {
        const result = work();
        if (!stream.db.inTransaction) stream.writingSince = 0;
        else stream.writingSince ||= Date.now();
        if (wasWriting && !stream.db.inTransaction) this.#waiting.shift()?.();
        return result;
      } catch (error) {
        const holder = [...this.#open.values()].find((other) => other !== stream && other.db.inTransaction);
        const isBusy = error instanceof HranaError && error.code === "SQLITE_BUSY";
        if (!isBusy || stream.db.inTransaction || holder === undefined) throw toHranaError(error);
        if (Date.now() - holder.writingSince > WRITER_TURN_MS) {
          holder.db.exec("rollback");
          holder.lostTurn = true;
        } else {
          await this.#turn();
        }
      }
    }
  }

  /** Resolves when it may be this waiter's turn. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      // Polls, because nothing reports that a writer has blocked the others for too long.
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      }, 50);
      this.#waiting.push(wake);
    });
  }

  close(): void {
    for (const stream of this.#open.values()) {
      clearTimeout(stream.expiry);
      this.drop(stream);
    }
    for (const db of this.#idle) db.close();
  }

  #connect(): Database.Database {
    const db = new Database(this.#path, { timeout: 0 });
    db.pragma("journal_mode = wal");
    db.pragma("synchronous = normal");
    return db;
  }

  #sign(id: string, sequence: number): string {
    return createHmac("sha256", this.#key).update(`${id}.${sequence}`).digest("base64url");
  }
}
