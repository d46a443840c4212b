type Schedule = (callback: () => void) => unknown;

/**
 * Ways to the next turn of the event loop, from the cheapest on: for the first message of a `MessageChannel` Node loads
 * its fetch client (40 ms of CPU), for an immediate nothing; a timer is the last resort, it takes a millisecond or
 * longer. They are looked up as the module loads, so that fake timers of a test do not hold up a worker.
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
 * Resolves in the next turn of the event loop: requests go out before it. It never rejects: some edge sandboxes define
 * `setImmediate` and `MessageChannel` as functions that throw, and one that has thrown is not tried again.
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
