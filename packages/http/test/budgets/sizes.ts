import type { StoreSize } from './definitions.js';

const MEBIBYTE = 1024 * 1024;

/**
 * The conditions of the promise. The flags leave 4 of 16 MiB to the largest segment and to the data that the requests
 * of the table write.
 */
export const FULL_STORE: StoreSize = {
  flags: 10_000,
  large: 1,
  bytes: 12 * MEBIBYTE,
  sharing: 100,
  largeEvents: 100,
  manyEvents: 90_000,
  requests: 1000,
  rollouts: 900,
  applications: 200,
  reported: 1000,
  invented: 8000,
};

/**
 * As few large documents, beside the small flags that the requests name. The data that the requests write is
 * additional.
 */
export const LARGE_STORE: StoreSize = {
  ...FULL_STORE,
  flags: 200,
  large: 16,
  bytes: 17.25 * MEBIBYTE,
};

/** A store that fits into a few seconds, with the same documents and bodies at their limits. */
export const SHORT_STORE: StoreSize = {
  flags: 500,
  large: 1,
  bytes: 4 * MEBIBYTE,
  sharing: 10,
  largeEvents: 5,
  manyEvents: 1000,
  requests: 50,
  rollouts: 50,
  applications: 20,
  reported: 50,
  invented: 1000,
};

/** Events, metrics and change requests stay in memory where the storage is memory. */
export function sizeIn(storage: string, size: StoreSize): StoreSize {
  if (storage !== 'memory') return size;
  const { manyEvents, requests, applications } = size;
  return {
    ...size,
    largeEvents: 3,
    manyEvents: Math.min(manyEvents, 10_000),
    applications: Math.min(applications, 30),
    requests: Math.min(requests, 100),
    invented: 2000,
  };
}
