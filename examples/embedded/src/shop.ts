import type { Flags, FlagsEvent } from '@flags/core';

/** The rest of the service: it hears of every change, whoever makes it, and reads what is on. */
export interface Shop {
  /** Prints the flags and where they are on. */
  report(): Promise<void>;
  /** Resolves when an event of this type has been heard. */
  heardOf(type: FlagsEvent['type']): Promise<void>;
}

export function openShop(flags: Flags): Shop {
  const heard = new Set<string>();
  flags.subscribe((event) => {
    heard.add(event.type);
    console.log(`heard: ${event.type} ${event.flag ?? event.project} by ${event.actor}`);
  });
  return {
    async report() {
      for (const { name, environments } of await flags.listFlags({ project: 'default' })) {
        const on = environments.filter(({ enabled }) => enabled).map((environment) => environment.displayName);
        console.log(`${name} is on in: ${on.join(', ') || 'no environment'}`);
      }
    },
    async heardOf(type) {
      while (!heard.has(type)) await new Promise(setImmediate);
    },
  };
}
