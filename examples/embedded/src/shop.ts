import type { Flags } from '@flags/core';

/** The rest of the service. It evaluates the flag for each user, and receives every change of any process. */
export interface Shop {
  /** Prints which checkout a user sees. */
  sell(userId: string): void;
  /** Resolves when the shop has received this many changes. */
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
    sell(userId) {
      const checkout = flags.isEnabled('checkout', { userId }) ? 'new' : 'old';
      console.log(`user ${userId} sees the ${checkout} checkout`);
    },
    async hasHeardOf(changes) {
      while (heard < changes) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}
