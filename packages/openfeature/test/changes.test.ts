import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFlags, type Flags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { type Client, ProviderEvents } from '@openfeature/server-sdk';
import { until } from '../../../test/until.js';
import { DEFAULT, startHost, stopHosts, switchOn } from './host.js';

const PRODUCTION = { ...DEFAULT, flag: 'checkout', environment: 'production' };
const DEVELOPMENT = { ...PRODUCTION, environment: 'development' };
const EVERYBODY = { name: 'default' };

/** The names of flags that the client is told of from now on. */
function changesTold(client: Client): Set<string> {
  const told = new Set<string>();
  client.addHandler(ProviderEvents.ConfigurationChanged, (details) => {
    for (const name of details?.flagsChanged ?? []) told.add(name);
  });
  return told;
}

/** Everything that happened before has been told once this flag is. */
async function toldUpTo(marker: string, flags: Flags, told: Set<string>): Promise<readonly string[]> {
  await flags.createFlag(DEFAULT, { name: marker });
  await until(() => told.has(marker));
  return [...told].filter((name) => name !== marker).sort();
}

describe('a change', () => {
  afterEach(stopHosts);

  it('is told with the name of its flag', async () => {
    const { flags, client } = await startHost();
    await switchOn(flags, { name: 'before' });
    const settled = changesTold(client);
    await toldUpTo('start', flags, settled);
    const told = changesTold(client);
    await switchOn(flags, { name: 'checkout' });
    await flags.archiveFlag({ ...DEFAULT, flag: 'before' });
    expect(await toldUpTo('end', flags, told)).toEqual(['before', 'checkout']);
  });

  it('in another environment is not told', async () => {
    const { flags, client } = await startHost();
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.addStrategy(DEVELOPMENT, EVERYBODY);
    await flags.enable(DEVELOPMENT);
    expect(await toldUpTo('end', flags, told)).toEqual([]);
  });

  it('of what has nothing to do with flags is not told', async () => {
    const { flags, client } = await startHost();
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createSegment({ name: 'nobody uses it', constraints: [] });
    expect(await toldUpTo('end', flags, told)).toEqual([]);
  });

  it('of a segment is told of the flags that use it, and of their children', async () => {
    const { flags, client } = await startHost();
    const { id } = await flags.createSegment({ name: 'staff', constraints: [] });
    await switchOn(flags, { name: 'parent', strategy: { name: 'default', segments: [id] } });
    await switchOn(flags, { name: 'child' });
    await switchOn(flags, { name: 'other' });
    await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'parent' });
    await toldUpTo('start', flags, changesTold(client));
    const told = changesTold(client);
    await flags.updateSegment(
      { segment: id },
      { constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }] },
    );
    expect(await toldUpTo('end', flags, told)).toEqual(['child', 'parent']);
  });

  it('of another process is told when it is evaluated already', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'flags-openfeature-'));
    const file = join(directory, 'flags.db');
    const { flags, client } = await startHost({ flags: { storage: sqliteStorage(file), pollInterval: 20 } });
    const other = await createFlags({ storage: sqliteStorage(file), pollInterval: 0 });
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
