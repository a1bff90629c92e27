import type { Sightings } from './composition.js';
import { visitInSlices } from './slices.js';

export function memorySightings(): Sightings {
  const lastSeen = new Map<string, number>();
  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        for (const { flag } of counts) lastSeen.set(flag, Math.max(lastSeen.get(flag) ?? stop, stop));
      }
    },
    of(flags) {
      const found = new Map<string, number>();
      for (const flag of flags) {
        const at = lastSeen.get(flag);
        if (at !== undefined) found.set(flag, at);
      }
      return found;
    },
    forget(flag) {
      lastSeen.delete(flag);
    },
    dropStrangers: ({ isFlag, unseenSince }, onDropped) =>
      visitInSlices(lastSeen, ([flag, at]) => {
        if (at >= unseenSince || isFlag(flag)) return;
        lastSeen.delete(flag);
        onDropped(flag);
      }),
  };
}
