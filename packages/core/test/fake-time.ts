/** Everything that waits for time waits for the test. The event loop keeps turning. */
const DO_NOT_FAKE = ['setImmediate', 'nextTick', 'queueMicrotask'] as const;

/** Lets time pass, and everything happen that becomes due meanwhile. */
export type Pass = (milliseconds: number) => Promise<void>;

/** Runs a test whose time only passes when it says so. A busy machine delays nothing then. */
export async function withFakeTime(test: (pass: Pass) => Promise<void>): Promise<void> {
  jest.useFakeTimers({ doNotFake: [...DO_NOT_FAKE] });
  try {
    await test(async (milliseconds) => {
      await jest.advanceTimersByTimeAsync(milliseconds);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    });
  } finally {
    jest.useRealTimers();
  }
}
