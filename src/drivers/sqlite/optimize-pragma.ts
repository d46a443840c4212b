// The pragmas that keep the statistics of SQLite's planner up to date.

/**
 * Analyses the tables that have no statistics yet or grew a lot since the last analysis. SQLite's planner needs them,
 * and only a client with its own database file has to collect them: a server does it by itself.
 */
export const OPTIMIZE = "pragma optimize = 0x10002";

/** Rows of each index that an analysis reads about, so that it stays cheap on a large table. */
export const ANALYSIS_LIMIT = 400;
