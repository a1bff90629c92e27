import type { Flags } from '@flags/core';

/** What a server holds while it is under load. */
export interface Content {
  readonly flags: number;
  /** One flag is switched so often meanwhile. */
  readonly changesPerSecond: number;
}

const PROJECT = 'default';
const BATCH = 500;

/** All of one length, so that answers about any of them are of one size. */
export function flagName(number: number): string {
  return `flag-${String(number).padStart(5, '0')}`;
}

/** Flags as they are in use: with a description, a strategy in every environment, every other one on, all seen. */
export async function fill(flags: Flags, { flags: size }: Content): Promise<void> {
  for (let start = 0; start < size; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - start) }, (_, at) => start + at);
    await Promise.all(numbers.map((number) => add(flags, number)));
    await see(flags, numbers.map(flagName));
  }
}

/** Goes on until the process ends. */
export function keepChanging(flags: Flags, { changesPerSecond }: Content): void {
  if (changesPerSecond === 0) return;
  const ref = { project: PROJECT, flag: flagName(1), environment: 'production' };
  let changes = 0;
  setInterval(() => void (changes++ % 2 === 0 ? flags.enable(ref) : flags.disable(ref)), 1000 / changesPerSecond);
}

async function add(flags: Flags, number: number): Promise<void> {
  const name = flagName(number);
  await flags.createFlag({ project: PROJECT }, { name, description: `What ${name} is for, in a sentence.` });
  for (const { name: environment } of flags.settings.environments) {
    const ref = { project: PROJECT, flag: name, environment };
    await flags.addStrategy(ref, {
      name: 'flexibleRollout',
      parameters: { rollout: 50, stickiness: 'default', groupId: name },
      constraints: [{ contextName: 'country', operator: 'IN', values: ['no', 'se', 'dk'] }],
    });
    if (number % 2 === 0 && environment === 'development') await flags.enable(ref);
  }
}

async function see(flags: Flags, names: readonly string[]): Promise<void> {
  const now = new Date().toISOString();
  const toggles = Object.fromEntries(names.map((name) => [name, { yes: 1, no: 1 }]));
  await flags.reportMetrics({ appName: 'shop', bucket: { start: now, stop: now, toggles } });
}
