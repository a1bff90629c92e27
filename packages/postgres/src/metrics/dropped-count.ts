import type { DroppedMetrics } from '@flags/core';

/** Adds up what limits keep from being stored. */
export function createDroppedCount() {
  let [names, reports] = [0, 0];
  const dropped: DroppedMetrics = {
    get names() {
      return names;
    },
    get reports() {
      return reports;
    },
  };
  return {
    dropped,
    add(more: DroppedMetrics): void {
      names += more.names;
      reports += more.reports;
    },
  };
}
