/** What platforms say when an account, a plan or an invocation has used up what it may: nothing was written. */
const OVER_QUOTA =
  /\bquota\b|\bfree[- ]tier\b|\bdaily\b.*\blimit|\bexceeded (?:the )?(?:maximum|allowed|daily)\b|maximum DB size|too many (?:API requests|subrequests)/i;

export function isOverQuota(message: string): boolean {
  return OVER_QUOTA.test(message);
}
