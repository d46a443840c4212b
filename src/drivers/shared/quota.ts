// Recognizes the errors of a platform's quotas.

/** Messages for a used-up quota of an account, a plan or an invocation. Nothing was written. */
const OVER_QUOTA = [
  /\bquota\b/i,
  /\bfree[- ]tier\b/i,
  /\bdaily\b.*\blimit/i,
  /\bexceeded (?:the )?(?:maximum|allowed|daily)\b/i,
  /maximum DB size/i,
  /too many (?:API requests|subrequests)/i,
];

/** Whether an error's message says that a quota is used up. Platforms send no code for it. */
export function isOverQuota(message: string): boolean {
  return OVER_QUOTA.some((pattern) => pattern.test(message));
}
