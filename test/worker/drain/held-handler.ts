/** A handler whose calls end when the test ends them. */
export function heldHandler() {
  const ends: (() => void)[] = [];
  const handler = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, handler, end: (count: number) => ends.splice(0, count).map((end) => end()) };
}
