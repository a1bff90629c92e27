/** The interval that distinguishes the timers of heartbeats from all others. */
const INTERVAL = 98_765_432;

/**
 * Heartbeats that a test triggers itself, so that a slow machine cannot make a client look late. Pass `interval` to the
 * router as its `heartbeatInterval`.
 */
export function manualHeartbeats(): { readonly interval: number; readonly beat: () => void } {
  const running = new Map<unknown, () => void>();
  const { setInterval: set, clearInterval: clear } = globalThis;

  beforeAll(() => {
    jest.spyOn(globalThis, 'setInterval').mockImplementation((callback, milliseconds, ...values) => {
      const timer = set(milliseconds === INTERVAL ? () => undefined : callback, milliseconds, ...values);
      if (milliseconds === INTERVAL) running.set(timer, () => callback(...values));
      return timer;
    });
    jest.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
      running.delete(timer);
      clear(timer);
    });
  });

  afterAll(() => jest.restoreAllMocks());

  return {
    interval: INTERVAL,
    beat() {
      for (const callback of running.values()) callback();
    },
  };
}
