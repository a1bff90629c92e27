import { join } from 'node:path';
import type * as Core from '../../src/index.js';
import type * as Sqlite from '../../src/sqlite.js';
import type * as Testing from '../../src/testing.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';

/*
 * RE2 takes longer to load than the rest of the package, so it is loaded for the first pattern. Each process here is a fresh
 * registry of modules.
 */

const PROJECT = { project: 'default' };
const FLAG = { ...PROJECT, flag: 'checkout' };
const PRODUCTION = { ...FLAG, environment: 'production' };
const MATCHING = { properties: { email: 'ada@example.org' } };
const constraints = [{ contextName: 'email', operator: 'REGEX', value: '@example\\.org$' }] as const;
const BY_PATTERN = { name: 'default', constraints } as const;

interface Process {
  readonly core: typeof Core;
  readonly sqlite: typeof Sqlite;
  readonly testing: typeof Testing;
  /** How often RE2 was loaded since this process has started. Modules of an earlier one load it into the newest. */
  readonly loads: () => number;
}

function startProcess(): Process {
  let loads = 0;
  jest.resetModules();
  jest.doMock('re2js', () => {
    loads += 1;
    return jest.requireActual('re2js');
  });
  const process: Process = {
    core: require('../../src/index.js'),
    sqlite: require('../../src/sqlite.js'),
    testing: require('../../src/testing.js'),
    loads: () => loads,
  };
  return process;
}

const opened: Core.Flags[] = [];

afterEach(async () => {
  for (const flags of opened.splice(0)) await flags.close();
});

const problems: string[] = [];

beforeEach(() => problems.splice(0));

async function open({ core, sqlite }: Process, path: string): Promise<Core.Flags> {
  const flags = await core.openFlags({
    storage: await sqlite.sqliteStorage(path),
    pollInterval: 0,
    onProblem: ({ message }) => problems.push(message),
  });
  opened.push(flags);
  return flags;
}

async function createByPattern(flags: Core.Flags): Promise<void> {
  await flags.createFlag(PROJECT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, BY_PATTERN);
  await flags.enable(PRODUCTION);
}

const directory = temporaryDirectory();
afterAll(directory.remove);

function path(name: string): string {
  return join(directory.path, name);
}

describe('a process loads RE2', () => {
  it('before the change that writes the first pattern, and not before', async () => {
    const one = startProcess();
    const flags = await open(one, path('writer.db'));
    await flags.createFlag(PROJECT, { name: 'plain' });
    flags.isEnabled('plain');
    expect(one.loads()).toBe(0);
    await createByPattern(flags);
    expect(one.loads()).toBe(1);
    expect(flags.isEnabled('checkout', MATCHING)).toBe(true);
    expect(flags.isEnabled('checkout')).toBe(false);
    expect(problems).toEqual([]);
  });

  it('before it evaluates a pattern of another process', async () => {
    const reading = await open(startProcess(), path('reader.db'));
    const writing = await open(startProcess(), path('reader.db'));
    await createByPattern(writing);
    await reading.refresh();
    expect(reading.isEnabled('checkout', MATCHING)).toBe(true);
    expect(problems).toEqual([]);
  });

  it('before it evaluates a segment with a pattern of another process', async () => {
    const reading = await open(startProcess(), path('segment.db'));
    const writing = await open(startProcess(), path('segment.db'));
    const { id } = await writing.segments.create({ name: 'staff', constraints });
    await writing.createFlag(PROJECT, { name: 'checkout' });
    await writing.addStrategy(PRODUCTION, { name: 'default', segments: [id] });
    await writing.enable(PRODUCTION);
    await reading.refresh();
    expect(reading.isEnabled('checkout', MATCHING)).toBe(true);
    expect(problems).toEqual([]);
  });

  it('before the flags are open, if there is a pattern', async () => {
    await createByPattern(await open(startProcess(), path('opened.db')));
    const other = startProcess();
    const flags = await open(other, path('opened.db'));
    expect(other.loads()).toBe(1);
    expect(flags.isEnabled('checkout', MATCHING)).toBe(true);
    expect(problems).toEqual([]);
  });

  it('before it evaluates a pattern of the past', async () => {
    const writing = await open(startProcess(), path('past.db'));
    await createByPattern(writing);
    const [last] = (await writing.events.list({ limit: 1 })).items;
    await writing.archiveFlag(FLAG);
    await writing.deleteFlag(FLAG);
    const other = startProcess();
    const flags = await open(other, path('past.db'));
    expect(other.loads()).toBe(0);
    const past = flags.history.asOf({ position: String(last?.position) });
    expect(await past.isEnabled('checkout', MATCHING)).toBe(true);
    expect(await past.isEnabled('checkout')).toBe(false);
    expect(other.loads()).toBe(1);
  });
});

describe('testFlags', () => {
  it('is ready at once, also a fork with a pattern', async () => {
    const one = startProcess();
    const flags = one.testing.testFlags({ checkout: true });
    expect(flags.isEnabled('checkout')).toBe(true);
    expect(one.loads()).toBe(0);
    const { environment } = flags.settings;
    const { environments } = await flags.getFlag(FLAG);
    const [{ id: strategy } = { id: '' }] = environments.find(({ name }) => name === environment)?.strategies ?? [];
    await flags.updateStrategy({ ...FLAG, environment, strategy }, BY_PATTERN);
    const fork = flags.fork();
    expect([fork.isEnabled('checkout', MATCHING), fork.isEnabled('checkout')]).toEqual([true, false]);
    expect(one.loads()).toBe(1);
  });
});
