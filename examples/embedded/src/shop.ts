import type { Flags } from '@flags/core';

/** The rest of the service: it hears of every change, whoever makes it, and reads what is on. */
export interface Shop {
  /** Prints the flags and where they are on. */
  report(): Promise<void>;
  /** Resolves when the shop has heard of so many changes. */
  hasHeardOf(changes: number): Promise<void>;
}

export function openShop(flags: Flags): Shop {
  let heard = 0;
  flags.subscribe(({ type, flag, actor }) => {
    if (flag === null) return;
    console.log(`heard: ${type} ${flag} by ${actor}`);
    heard += 1;
  });

  return {
    async report() {
      for (const { name, environments } of await flags.listFlags({ project: 'default' })) {
        const on = environments.filter(({ enabled }) => enabled).map(({ displayName }) => displayName);
        console.log(`${name} is on in: ${on.join(', ') || 'no environment'}`);
      }
    },
    async hasHeardOf(changes) {
      while (heard < changes) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}
