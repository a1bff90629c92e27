import type { ApplicationRegistration, UsageReport } from '../../storage/metrics-port.js';

/** A full second. All times of the suite are relative to it. */
export const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** A report of one evaluation of `checkout` by `shop`, which ended and arrived at {@link NOW}, but for what is given. */
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

/** A registration of `shop` with nothing but what is required and given. */
export function registration(given: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
  return { application: 'shop', instance: { id: 'shop-1' }, at: NOW, strategies: ['default'], ...given };
}

/** Counts of one evaluation for each flag. */
export function once(...flags: readonly string[]): UsageReport['counts'] {
  return flags.map((flag) => ({ flag, yes: 1, no: 0 }));
}
