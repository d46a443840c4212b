/** Polls until a condition holds, where no event reports it. */
export async function until(condition: () => Promise<boolean> | boolean, limitMs = 10_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`gave up after ${limitMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
