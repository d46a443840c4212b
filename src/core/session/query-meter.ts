/** Counts the statements that were sent, as a platform with a limit counts them: a batch of n counts n. */
export class QueryMeter {
  sent = 0;

  count(statements: number): void {
    this.sent += statements;
  }
}
