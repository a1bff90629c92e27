/**
 * Loaded before a server. Answers every message with the memory of the process: resident as it is, and the live heap after a
 * collection of all garbage. Needs `--expose-gc`.
 */
process.on('message', () => {
  const resident = process.memoryUsage.rss();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  process.send?.({ resident, live: heapUsed });
});
process.channel?.unref();
