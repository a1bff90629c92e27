import type { Step } from './row.js';
import { inOrder } from './row.js';

/** The time of every row. */
export const NOW = '2026-03-01T12:00:00.000Z';

export const DEFAULT = { project: 'default' };
export const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
export const PRODUCTION = { ...CHECKOUT, environment: 'production' };

export const PROJECTS = '/api/admin/projects';
export const PROJECT = `${PROJECTS}/default`;
export const FEATURES = `${PROJECT}/features`;
export const FLAG = `${FEATURES}/checkout`;
export const UNKNOWN_FLAG = `${FEATURES}/unknown`;

/** The id of the strategy that an engine of the table makes as its n-th. */
export function strategyId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

export const ROLLOUT = {
  name: 'flexibleRollout',
  parameters: { rollout: 25, groupId: 'checkout', stickiness: 'default' },
} as const;

/** A project with a flag of its own, beside the project default. */
export const shop: Step = inOrder(
  (flags) => flags.createProject({ id: 'shop', name: 'Shop' }),
  (flags) => flags.createFlag({ project: 'shop' }, { name: 'basket' }),
);

export const checkout: Step = (flags) => flags.createFlag(DEFAULT, { name: 'checkout', description: 'The new one' });

/** The first strategy, in production. */
export const withStrategy: Step = inOrder(checkout, (flags) => flags.addStrategy(PRODUCTION, ROLLOUT));

export const enabled: Step = inOrder(withStrategy, (flags) => flags.enable(PRODUCTION));

export const withVariants: Step = inOrder(checkout, (flags) =>
  flags.setVariants(CHECKOUT, [{ name: 'blue', weightType: 'fix', weight: 100 }, { name: 'green' }]),
);

/** Archived while on in production. */
export const archived: Step = inOrder(enabled, (flags) => flags.archiveFlag(CHECKOUT));

/** One owner, user 1. */
export const owned: Step = (flags) => flags.addMember(DEFAULT, { userId: 1, roleId: 4 });

/** Owner 1 and member 2. */
export const staffed: Step = inOrder(owned, (flags) => flags.addMember(DEFAULT, { userId: 2, roleId: 5 }));

/** The application web, registered, having counted checkout 8 yes and 2 no within the last minute. */
export const reported: Step = inOrder(
  (flags) =>
    flags.registerApplication(
      { application: 'web', instance: 'web-1', strategies: ['default', 'own'] },
      { clientIp: '192.0.2.1' },
    ),
  (flags) =>
    flags.reportMetrics({
      application: 'web',
      instance: 'web-1',
      start: '2026-03-01T11:59:00.000Z',
      stop: NOW,
      counts: { checkout: { yes: 8, no: 2 } },
    }),
);

/** What clients of production see needs approval, unless flags only go off. */
export const protecting: Step = (flags) => flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
