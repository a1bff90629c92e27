import { type Flags, type FlagsOptions, memoryStorage, openFlags, type VariantInput } from '@flags/core';
import { type Client, OpenFeature } from '@openfeature/server-sdk';
import type { FlagsProviderOptions } from '../src/options.js';
import { createFlagsProvider } from '../src/provider.js';

export const DEFAULT = { project: 'default' };

export interface Host {
  readonly flags: Flags;
  readonly client: Client;
}

/** An application with the provider; {@link stopHosts} ends all of them. */
export async function startHost(
  options: { readonly flags?: Partial<FlagsOptions>; readonly provider?: FlagsProviderOptions } = {},
): Promise<Host> {
  const flags = await openFlags({ storage: memoryStorage(), ...options.flags });
  started.push(flags);
  const domain = `host-${started.length}`;
  await OpenFeature.setProviderAndWait(domain, createFlagsProvider(flags, options.provider));
  return { flags, client: OpenFeature.getClient(domain) };
}

const started: Flags[] = [];

export async function stopHosts(): Promise<void> {
  await OpenFeature.close();
  OpenFeature.clearHandlers();
  OpenFeature.setContext({});
  for (const flags of started) await flags.close();
}

export interface FlagSetup {
  readonly name: string;
  /** Default: `default`. */
  readonly strategy?: Parameters<Flags['addStrategy']>[1];
  readonly variants?: readonly VariantInput[];
}

/** Creates a flag that is on in production. */
export async function switchOn(
  flags: Flags,
  { name, strategy = { name: 'default' }, variants }: FlagSetup,
): Promise<void> {
  const production = { ...DEFAULT, flag: name, environment: 'production' };
  await flags.createFlag(DEFAULT, { name });
  await flags.addStrategy(production, strategy);
  await flags.enable(production);
  if (variants) await flags.setVariants(production, variants);
}
