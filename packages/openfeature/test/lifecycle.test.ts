import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFlags, memoryStorage, memoryUsage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { OpenFeature, type Provider, ProviderEvents, ProviderStatus } from '@openfeature/server-sdk';
import Database from 'better-sqlite3';
import { until } from '../../../test/until.js';
import { createFlagsProvider } from '../src/provider.js';
import { DEFAULT, startHost, stopHosts, switchOn } from './host.js';

function changesOf(provider: Provider): string[] {
  const told: string[] = [];
  provider.events?.addHandler(ProviderEvents.ConfigurationChanged, (details) => {
    told.push(...((details as { flagsChanged?: string[] })?.flagsChanged ?? []));
  });
  return told;
}

describe('the provider', () => {
  afterEach(stopHosts);

  it('is for servers, and is ready once it is set', async () => {
    const { client } = await startHost();
    expect(client.metadata.providerMetadata.name).toBe('flags');
    expect(client.providerStatus).toBe(ProviderStatus.READY);
  });

  it('is refused for a promise of flags, and for a misspelt option', async () => {
    const opening = createFlags({ storage: memoryStorage() });
    expect(() => createFlagsProvider(opening as never)).toThrow(
      'createFlagsProvider needs flags, and was given a promise',
    );
    const flags = await opening;
    const misspelt = { enviroment: 'production' } as object;
    expect(() => createFlagsProvider(flags, misspelt)).toThrow('did you mean environment?');
    await flags.close();
  });

  it('cannot be set for an environment that does not exist', async () => {
    await expect(startHost({ provider: { environment: 'nowhere' } })).rejects.toMatchObject({
      code: 'environment_not_found',
    });
  });

  it('cannot be set once the flags are closed', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    await flags.close();
    await expect(OpenFeature.setProviderAndWait('closed', createFlagsProvider(flags))).rejects.toMatchObject({
      code: 'closed',
    });
  });

  it('goes on answering when the flags are closed under it', async () => {
    const { flags, client } = await startHost();
    await switchOn(flags, { name: 'checkout' });
    await flags.close();
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
  });

  it('serves several domains', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const provider = createFlagsProvider(flags);
    const told = changesOf(provider);
    await OpenFeature.setProviderAndWait('one', provider);
    await OpenFeature.setProviderAndWait('other', provider);
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await until(() => told.length > 0);
    expect(told).toEqual(['checkout']);
    for (const domain of ['one', 'other']) {
      expect(await OpenFeature.getClient(domain).getBooleanDetails('checkout', true)).toMatchObject({ value: false });
    }
    await OpenFeature.close();
    await flags.close();
  });

  it('tells nothing more once it is closed, leaves the flags open, and can be initialized again', async () => {
    const { flags } = await startHost();
    const provider = createFlagsProvider(flags);
    const told = changesOf(provider);
    const seen: (string | null)[] = [];
    await provider.initialize?.();
    await provider.onClose?.();
    flags.subscribe(({ flag }) => void seen.push(flag));
    await flags.createFlag(DEFAULT, { name: 'unheard' });
    await until(() => seen.includes('unheard'));
    expect(told).toEqual([]);
    await provider.initialize?.();
    await flags.createFlag(DEFAULT, { name: 'heard' });
    await until(() => told.includes('heard'));
    await provider.onClose?.();
  });

  it('is stale while changes cannot be read, goes on answering, and is ready when they can be', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-openfeature-'));
    const file = join(directory, 'flags.db');
    const { flags, client } = await startHost({
      flags: { storage: sqliteStorage(file), pollInterval: 10, onError: () => undefined },
      provider: { statusInterval: 10 },
    });
    await switchOn(flags, { name: 'checkout' });
    const database = new Database(file);
    database.exec('ALTER TABLE flags_events RENAME TO elsewhere');
    await until(() => client.providerStatus === ProviderStatus.STALE);
    expect(await client.getBooleanValue('checkout', false)).toBe(true);
    database.exec('ALTER TABLE elsewhere RENAME TO flags_events');
    await until(() => client.providerStatus === ProviderStatus.READY);
    database.close();
    await stopHosts();
    await rm(directory, { recursive: true });
  });

  it('counts what is evaluated through it', async () => {
    const usage = memoryUsage();
    const { flags, client } = await startHost({ flags: { appName: 'shop', usage } });
    await switchOn(flags, { name: 'checkout' });
    await client.getBooleanValue('checkout', false);
    await client.getStringValue('checkout', '');
    await flags.close();
    const reader = await createFlags({ storage: memoryStorage(), usage });
    expect(await reader.listSeenFlags()).toEqual([{ appName: 'shop', flags: ['checkout'], metricsCount: 2 }]);
    await reader.close();
  });
});

describe('tracking', () => {
  afterEach(stopHosts);

  it('is told with its merged context and details', async () => {
    const tracked: unknown[] = [];
    const { client } = await startHost({ provider: { onTrack: (event) => tracked.push(event) } });
    client.setContext({ plan: 'pro' });
    client.track('purchase', { targetingKey: 'ada' }, { value: 99.5, currency: 'EUR' });
    expect(tracked).toEqual([
      { name: 'purchase', context: { plan: 'pro', targetingKey: 'ada' }, details: { value: 99.5, currency: 'EUR' } },
    ]);
  });

  it('does nothing without anybody to tell', async () => {
    const { client } = await startHost();
    expect(() => client.track('purchase', { targetingKey: 'ada' }, { value: 1 })).not.toThrow();
  });

  it('goes on when the listener throws', async () => {
    const fail = () => {
      throw new Error('The listener failed.');
    };
    const { client } = await startHost({ provider: { onTrack: fail } });
    expect(() => client.track('purchase')).not.toThrow();
  });
});
