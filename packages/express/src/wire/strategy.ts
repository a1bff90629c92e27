import type { Strategy } from '@flags/core';

/** Members that were not given are undefined, and so not in the JSON. */
export function strategyToWire(strategy: Strategy) {
  const { id, name, constraints, parameters, title, disabled, sortOrder, segments, variants } = strategy;
  return { id, name, constraints, parameters, title, disabled, sortOrder, segments, variants };
}
