/**
 * The contract between Wadi and a database client: what the author of a driver implements. It has types only; the SQL
 * that a driver carries comes from `wadi/protocol/sqlite` or `wadi/protocol/postgres`.
 *
 * @module
 */
export type {
  Answer,
  Dialect,
  ErrorClass,
  Executor,
  Limits,
  NativeBatch,
  OpenTransaction,
  Row,
  SendOptions,
  Statement,
  Value,
} from "./core/executor.ts";
export type { CompiledStatement, Migration, Protocol } from "./core/protocol.ts";
