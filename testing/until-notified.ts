/** Options of a wait that only a notification can end within a test: its next poll is ten minutes away. */
export const UNTIL_NOTIFIED = { pollMs: 600_000, maxPollMs: 600_000, timeoutMs: 600_000 };
