import { FlagsError } from './errors.js';
import type { FlagsSettings } from './settings.types.js';
import { assertText } from './validator.js';

interface WithSettings {
  readonly settings: FlagsSettings;
}

/** Throws `environment_not_found` unless the settings contain the environment. */
export function assertEnvironment({ settings }: WithSettings, environment: string): void {
  assertText('environment', environment);
  if (settings.environments.some(({ name }) => name === environment)) return;
  throwEnvironmentNotFound({ settings }, environment);
}

export function throwEnvironmentNotFound({ settings }: WithSettings, environment: string): never {
  const names = settings.environments.map(({ name }) => name).join(', ');
  throw new FlagsError('environment_not_found', `There is no environment ${environment}; there are ${names}.`);
}
