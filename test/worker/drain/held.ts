/** A handler whose calls end when the test says so, and how many tasks are claimed meanwhile. */
export function held() {
  const ends: (() => void)[] = [];
  const handler = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, handler, end: (count: number) => ends.splice(0, count).map((end) => end()) };
}
