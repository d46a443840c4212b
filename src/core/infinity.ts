/** What an infinite number means where it stands for a time or a limit. */

/** The time of what does not happen. */
export const NEVER = Number.POSITIVE_INFINITY;

/** The limit of what is not limited. */
export const NO_LIMIT = NEVER;
