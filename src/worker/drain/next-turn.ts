/** Waits for the next turn of the event loop, on every platform. */

type Schedule = (callback: () => void) => unknown;

/**
 * Ways to the next turn of the event loop, the cheapest first. Node loads its fetch client for the first message of a
 * `MessageChannel` (40 ms of CPU), and nothing for an immediate. A timer, which takes a millisecond or longer, is the
 * last resort. They are looked up when the module loads, so that the fake timers of a test do not stop a worker.
 */
const schedules = /* @__PURE__ */ availableSchedules();

function availableSchedules(): Schedule[] {
  try {
    const { setImmediate } = globalThis as { readonly setImmediate?: Schedule };
    const hasMessages = typeof MessageChannel !== "undefined";
    return [...(setImmediate === undefined ? [] : [setImmediate]), ...(hasMessages ? [postMessage] : [])];
  } catch {
    return [];
  }
}

function postMessage(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

/**
 * Resolves in the next turn of the event loop; pending requests go out before it. It never rejects: some edge sandboxes
 * define `setImmediate` and `MessageChannel` as functions that throw, and one that has thrown is not tried again.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    for (let schedule = schedules[0]; schedule !== undefined; schedule = schedules[0]) {
      try {
        schedule(resolve);
        return;
      } catch {
        schedules.shift();
      }
    }
    setTimeout(resolve, 0);
  });
}
