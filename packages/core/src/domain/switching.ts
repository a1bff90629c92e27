import { FlagsError } from '../errors.js';
import { environmentOf, type FlagEvent, type FlagState } from './flag.js';
import { refuseArchived } from './flag-lifecycle.js';

export function enable(flag: FlagState, environment: string): FlagEvent[] {
  refuseArchived(flag);
  const { enabled, strategies } = environmentOf(flag, environment);
  if (enabled) return [];
  if (strategies.length === 0) {
    const message = `Add a strategy to ${environment} before enabling ${flag.name} there.`;
    throw new FlagsError('environment_has_no_strategies', message);
  }
  return [{ type: 'environment-enabled', environment, data: { enabled: true }, before: { enabled: false } }];
}

export function disable(flag: FlagState, environment: string): FlagEvent[] {
  refuseArchived(flag);
  if (!environmentOf(flag, environment).enabled) return [];
  return [{ type: 'environment-disabled', environment, data: { enabled: false }, before: { enabled: true } }];
}
