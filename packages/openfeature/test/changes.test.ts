import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { type Client, OpenFeature, type Provider, ProviderEvents, ProviderStatus } from '@openfeature/server-sdk';
import Database from 'better-sqlite3';
import { until } from '../../../test/until.js';
import { createFlagsProvider } from '../src/provider.js';
import { DEFAULT, startHost, stopHosts, switchOn } from './host.js';

describe('the lifecycle', () => {
  function changesOf(provider: Provider): string[] {
    const told: string[] = [];
    provider.events?.addHandler(ProviderEvents.ConfigurationChanged, (details) => {
      told.push(...((details as { flagsChanged?: string[] })?.flagsChanged ?? []));
    });
    return told;
  }

  describe('the provider', () => {
    afterEach(stopHosts);

    it('runs on servers, and is ready once it is set', async () => {
      const { client } = await startHost();
      expect(client.metadata.providerMetadata.name).toBe('flags');
      expect(client.providerStatus).toBe(ProviderStatus.READY);
    });

    it('is refused for a promise of flags, and for a misspelt option', async () => {
      const opening = openFlags({ storage: memoryStorage() });
      expect(() => createFlagsProvider(opening as never)).toThrow('createFlagsProvider needs flags, but got a promise');
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
      const flags = await openFlags({ storage: memoryStorage() });
      await flags.close();
      await expect(OpenFeature.setProviderAndWait('closed', createFlagsProvider(flags))).rejects.toMatchObject({
        code: 'closed',
      });
    });

    it('keeps evaluating after the flags are closed', async () => {
      const { flags, client } = await startHost();
      await switchOn(flags, { name: 'checkout' });
      await flags.close();
      expect(await client.getBooleanValue('checkout', false)).toBe(true);
    });

    it('serves several domains', async () => {
      const flags = await openFlags({ storage: memoryStorage() });
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

    it('emits no events after it is closed, leaves the flags open, and can be initialized again', async () => {
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

    it('is stale while changes cannot be read, keeps evaluating, and is ready when they can be read', async () => {
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

    it('counts its evaluations', async () => {
      const storage = { ...memoryStorage(), close: () => undefined };
      const { flags, client } = await startHost({ flags: { storage, usage: { application: 'shop' } } });
      await switchOn(flags, { name: 'checkout' });
      await client.getBooleanValue('checkout', false);
      await client.getStringValue('checkout', '');
      await flags.close();
      const reader = await openFlags({ storage });
      expect((await reader.usage.listSeenFlags()).items).toEqual([
        { application: 'shop', flags: ['checkout'], evaluations: 2 },
      ]);
      await reader.close();
    });
  });

  describe('tracking', () => {
    afterEach(stopHosts);

    it('passes the merged context and the details to the listener', async () => {
      const tracked: unknown[] = [];
      const { client } = await startHost({ provider: { onTrack: (event) => tracked.push(event) } });
      client.setContext({ plan: 'pro' });
      client.track('purchase', { targetingKey: 'ada' }, { value: 99.5, currency: 'EUR' });
      expect(tracked).toEqual([
        { name: 'purchase', context: { plan: 'pro', targetingKey: 'ada' }, details: { value: 99.5, currency: 'EUR' } },
      ]);
    });

    it('does nothing without a listener', async () => {
      const { client } = await startHost();
      expect(() => client.track('purchase', { targetingKey: 'ada' }, { value: 1 })).not.toThrow();
    });

    it('continues when the listener throws', async () => {
      const fail = () => {
        throw new Error('The listener failed.');
      };
      const { client } = await startHost({ provider: { onTrack: fail } });
      expect(() => client.track('purchase')).not.toThrow();
    });
  });
});

describe('a change', () => {
  const PRODUCTION = { ...DEFAULT, flag: 'checkout', environment: 'production' };
  const DEVELOPMENT = { ...PRODUCTION, environment: 'development' };
  const EVERYBODY = { name: 'default' } as const;

  /** The names of flags in the client's events from now on. */
  function changesTold(client: Client): Set<string> {
    const told = new Set<string>();
    client.addHandler(ProviderEvents.ConfigurationChanged, (details) => {
      for (const name of details?.flagsChanged ?? []) told.add(name);
    });
    return told;
  }

  /** When the event of this flag arrives, all earlier events have arrived. */
  async function toldUpTo(marker: string, flags: Flags, told: Set<string>): Promise<readonly string[]> {
    await flags.createFlag(DEFAULT, { name: marker });
    await until(() => told.has(marker));
    return [...told].filter((name) => name !== marker).sort();
  }

  afterEach(stopHosts);

  it('emits an event with the name of its flag', async () => {
    const { flags, client } = await startHost();
    await switchOn(flags, { name: 'before' });
    const settled = changesTold(client);
    await toldUpTo('start', flags, settled);
    const told = changesTold(client);
    await switchOn(flags, { name: 'checkout' });
    await flags.archiveFlag({ ...DEFAULT, flag: 'before' });
    expect(await toldUpTo('end', flags, told)).toEqual(['before', 'checkout']);
  });

  it('emits no event for another environment', async () => {
    const { flags, client } = await startHost();
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.addStrategy(DEVELOPMENT, EVERYBODY);
    await flags.enable(DEVELOPMENT);
    expect(await toldUpTo('end', flags, told)).toEqual([]);
  });

  it('emits no event if it concerns no flag', async () => {
    const { flags, client } = await startHost();
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.segments.create({ name: 'nobody uses it', constraints: [] });
    expect(await toldUpTo('end', flags, told)).toEqual([]);
  });

  it('emits an event for a segment with the flags that use it, and their children', async () => {
    const { flags, client } = await startHost();
    const { id } = await flags.segments.create({ name: 'staff', constraints: [] });
    await switchOn(flags, { name: 'parent', strategy: { name: 'default', segments: [id] } });
    await switchOn(flags, { name: 'child' });
    await switchOn(flags, { name: 'other' });
    await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'parent' });
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.segments.update(
      { segment: id },
      { constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] },
    );
    expect(await toldUpTo('end', flags, told)).toEqual(['child', 'parent']);
  });

  it('emits an event for another process after the provider evaluates it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-openfeature-'));
    const file = join(directory, 'flags.db');
    const { flags, client } = await startHost({ flags: { storage: sqliteStorage(file), pollInterval: 20 } });
    const other = await openFlags({ storage: sqliteStorage(file), pollInterval: 0 });
    await switchOn(flags, { name: 'checkout' });
    const answers: Promise<boolean>[] = [];
    await toldUpTo('start', flags, changesTold(client));
    client.addHandler(ProviderEvents.ConfigurationChanged, () => {
      answers.push(client.getBooleanValue('checkout', true));
    });
    await other.disable(PRODUCTION);
    await until(() => answers.length > 0);
    expect(await answers[0]).toBe(false);
    await other.close();
    await stopHosts();
    await rm(directory, { recursive: true });
  });
});
