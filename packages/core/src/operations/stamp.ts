import type { Flags } from '../api/engine.js';
import type { Engine } from '../engine/engine.js';

/** Tells whether what was read is still so. */
export function stampOperations({ storage, metrics, now }: Engine): Pick<Flags, 'stamp'> {
  return {
    async stamp(subject = 'flags') {
      if (!storage.stamp || metrics !== storage.metrics) return undefined;
      const stored = await storage.stamp();
      return subject === 'flags' ? stored : `${stored} ${Math.floor(now().getTime() / 1000)}`;
    },
  };
}
