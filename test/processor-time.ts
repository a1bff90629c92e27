/**
 * The processor time that this process has used, in milliseconds. Tests measure durations by it, because the clock also
 * counts the time that other processes take.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The most processor time, in milliseconds, between two turns of the event loop during the work. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
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
  await work();
  isOver = true;
  return longest;
}
