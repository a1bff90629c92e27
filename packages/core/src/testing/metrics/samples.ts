import type { ApplicationRegistration, UsageReport } from '../../storage/metrics-port.js';

/** A full second. All times of the suite are relative to it. */
export const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** Returns a report of one evaluation of `checkout` by `shop` at {@link NOW}, with the given changes. */
export function report(given: Partial<UsageReport> = {}): UsageReport {
  return {
    application: 'shop',
    instance: { id: 'shop-1' },
    at: NOW,
    stop: NOW,
    counts: [{ flag: 'checkout', yes: 1, no: 0 }],
    ...given,
  };
}

/** Returns a registration of `shop` with the required members and the given ones. */
export function registration(given: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
  return { application: 'shop', instance: { id: 'shop-1' }, at: NOW, strategies: ['default'], ...given };
}

/** Returns counts of one evaluation per flag. */
export function once(...flags: readonly string[]): UsageReport['counts'] {
  return flags.map((flag) => ({ flag, yes: 1, no: 0 }));
}
