/**
 * Loaded before a server. Answers `resident` with the resident memory of the process, in bytes, and `live` with the heap that a
 * collection of all garbage leaves. Needs `--expose-gc`.
 */
process.on('message', (asked) => {
  if (asked === 'live') globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  process.send?.(asked === 'live' ? heapUsed : rss);
});
process.channel?.unref();
