/**
 * The processor time that this process has used, in milliseconds. Tests measure durations by it, because the clock also
 * counts the time that other processes take.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Attempts until one is short enough. A busy machine makes several in a row slow: other processes use its caches, and a virtual
 * machine counts the time that its host takes.
 */
const ATTEMPTS = 9;

/** The most processor time, in milliseconds, between two turns of the event loop during the work, and after its end. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let latest = processorTime();
  let isOver = false;
  const measure = () => {
    const now = processorTime();
    longest = Math.max(longest, now - latest);
    latest = now;
    if (!isOver) setImmediate(measure);
  };
  setImmediate(measure);
  try {
    await work();
    // The last turn counts too.
    await new Promise(setImmediate);
  } finally {
    // Also if the work fails: otherwise the process never ends.
    isOver = true;
  }
  return longest;
}

/**
 * Whether the longest turn of one of {@link ATTEMPTS} attempts is below the limit, in milliseconds. The others are left out. A turn that is
 * long by itself is long in each of them. A garbage collection, which may take 300 ms in a process that has run many
 * suites, falls into one.
 */
export async function hasShortTurns(limit: number, work: () => Promise<unknown>): Promise<boolean> {
  for (let count = 0; count < ATTEMPTS; count++) if ((await longestTurn(work)) < limit) return true;
  return false;
}

/** Whether one of {@link ATTEMPTS} attempts takes less processor time than the limit, in milliseconds. The others are left out. */
export async function isWithin(limit: number, attempt: () => unknown): Promise<boolean> {
  for (let count = 0; count < ATTEMPTS; count++) {
    const start = processorTime();
    await attempt();
    if (processorTime() - start < limit) return true;
  }
  return false;
}
