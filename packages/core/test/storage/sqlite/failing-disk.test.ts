import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { extent } from '../../../../../test/extent.js';
import { createRandom } from '../../../../../test/seed.js';
import { openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';
import { usageOf } from '../../../src/storage/usage/port.js';
import { expectInvariants } from '../../invariants/invariants.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { bundle, nextMessage } from './child-program.js';
import type { Outcomes } from './children/flag-creator.js';
import { compileFailingDisk, type DiskFault, failingDisk } from './failing-disk/failing-disk.js';
import { kill } from './killing.js';

const random = createRandom();

const directory = temporaryDirectory();
const library = compileFailingDisk(directory.path);
if (!library)
  console.warn('Without cc, and Linux, no disk fails: what failed flushes and writes do is not tested here.');

const KILLS = extent({ short: 2, full: 40 });
/** Frames of one commit that fail in turn: more than it has. */
const WRITES = extent({ short: [0, 2], full: Array.from({ length: 16 }, (_, index) => index) });

const SINGLE = ['a'];
const GROUP = ['a', 'b', 'c', 'd'];
const EACH = [[SINGLE], [GROUP]];
const LOG = '-wal';
const FILES = ['', LOG, '-shm', '-journal'];
/** The flush of the first commit; the one before it is that of the log's head. */
const COMMIT = { file: LOG, after: 1 };
const DATABASE = '.db';

const all = (names: readonly string[], outcome: string) => Object.fromEntries(names.map((name) => [name, outcome]));

afterAll(directory.remove);

(library ? describe : describe.skip)('a disk that fails under a process', () => {
  const path = join(directory.path, 'flags.db');
  const disk = failingDisk(library ?? '', join(directory.path, 'fault'));
  let child: ChildProcess;

  function start(source: string, ...parameters: readonly string[]): void {
    const { file, env } = bundle(join(__dirname, 'children', source), directory.path);
    child = fork(file, [path, ...parameters], { env: { ...env, ...disk.environment } });
  }

  afterEach(async () => {
    disk.fail(undefined);
    if (child.exitCode === null && child.signalCode === null) await kill(child);
    for (const end of FILES) rmSync(path + end, { force: true });
  });

  describe('a process that creates flags', () => {
    beforeEach(async () => {
      await startCreator('wal');
    });

    async function startCreator(journal: string): Promise<void> {
      start('flag-creator.ts', journal);
      await nextMessage(child);
    }

    /** The outcomes that the process reports, and the flags that exist after a crash. */
    async function createDespite(fault: DiskFault, names: readonly string[]) {
      disk.fail(fault);
      const answer = nextMessage(child);
      child.send(names);
      const outcomes = (await answer) as Outcomes;
      const found = await flagsAfterCrash(path);
      disk.fail(undefined);
      for (const name of names) {
        if (outcomes[name] === 'created') expect(found).toContain(name);
        if (outcomes[name] === 'storage_unavailable') expect(found).not.toContain(name);
      }
      return { outcomes, found };
    }

    /** As {@link createDespite}, with all flags in one commit: on a busy machine a second one may take the last of them. */
    async function createTogetherDespite(fault: DiskFault, names: readonly string[]) {
      for (;;) {
        const result = await createDespite(fault, names);
        if (new Set(Object.values(result.outcomes)).size === 1) return result;
        await kill(child);
        for (const end of FILES) rmSync(path + end, { force: true });
        await startCreator('wal');
      }
    }

    async function createAgain(names: readonly string[]): Promise<void> {
      const answer = nextMessage(child);
      child.send(names);
      expect(await answer).toEqual(all(names, 'created'));
      expect(await flagsAfterCrash(path)).toEqual(expect.arrayContaining([...names]));
    }

    it.each(EACH)('reports an unknown outcome while no flush works: %j', async (names) => {
      const { outcomes } = await createTogetherDespite({ ...COMMIT, call: 'flush' }, names);
      expect(outcomes).toEqual(all(names, 'outcome_unknown'));
      await createAgain(names);
    });

    it.each(EACH)('reports an unknown outcome when nothing works, and a crash keeps the flags: %j', async (names) => {
      const { outcomes, found } = await createTogetherDespite({ ...COMMIT, call: 'all' }, names);
      expect([outcomes, found]).toEqual([all(names, 'outcome_unknown'), names]);
      await createAgain(names);
    });

    it.each(EACH)(
      'reports an unknown outcome after one failed flush; the next commit overwrites what a crash would keep: %j',
      async (names) => {
        const { outcomes, found } = await createTogetherDespite({ ...COMMIT, call: 'flush', times: 1 }, names);
        expect([outcomes, found]).toEqual([all(names, 'outcome_unknown'), names]);
        await createAgain(['next']);
        expect(await flagsAfterCrash(path)).toEqual(['next']);
        await createAgain(names);
      },
    );

    it.each(['-journal', DATABASE])(
      'reports an unknown outcome without a write-ahead log while no flush of %s works',
      async (file) => {
        await kill(child);
        await startCreator('delete');
        const { outcomes } = await createDespite({ call: 'flush', file }, SINGLE);
        expect(outcomes).toEqual(all(SINGLE, 'outcome_unknown'));
        await createAgain(SINGLE);
      },
    );

    it.each(WRITES)('does all or nothing, and reports which, when no write but %i works', async (after) => {
      for (const times of [1, undefined]) {
        for (const names of [SINGLE, GROUP]) {
          const own = names.map((name) => `${name}${times ?? ''}${names.length}`);
          await createDespite({ call: 'write', file: LOG, after, ...(times && { times }) }, own);
        }
      }
      await createAgain(GROUP);
    });

    it.each(['flush', 'write'] as const)('loses nothing when no %s of the database itself works', async (call) => {
      for (let round = 0; round < extent({ short: 2, full: 5 }); round++) {
        const names = GROUP.map((name) => `${name}${round}`);
        const { outcomes } = await createDespite({ call, file: DATABASE }, names);
        expect(outcomes).toEqual(all(names, 'created'));
      }
      await createAgain(GROUP);
    });
  });

  it('stores acknowledged changes exactly once, and refused changes never, if the process is killed', async () => {
    const told = new Map<string, string>();
    for (let count = 0; count < KILLS; count++) {
      disk.fail(undefined);
      start('outcome-teller.ts');
      await hearAmongFaults(told);
      await kill(child);
      await expectAsTold(told);
    }
    const reported = [...told].flatMap(([what, outcome]) => (what.endsWith(' reported') ? [outcome] : []));
    for (const outcomes of [[...told.values()], reported]) {
      expect(outcomes).toEqual(expect.arrayContaining(['done', 'outcome_unknown']));
    }
  });

  /** Receives reports of changes, makes some calls of the disk fail in between, and ends while it may still fail. */
  function hearAmongFaults(told: Map<string, string>): Promise<void> {
    let left = 30 + Math.floor(random() * 100);
    disk.fail({ call: 'flush', file: LOG, after: 10, times: 6 });
    return new Promise((resolve) => {
      child.on('message', ([change, outcome]: [string, string]) => {
        told.set(change, outcome);
        left -= 1;
        if (left % 20 === 10) disk.fail(anyFault());
        if (left === 0) resolve();
      });
    });
  }

  async function expectAsTold(told: ReadonlyMap<string, string>): Promise<void> {
    const storage = await sqliteStorage(path);
    await expectInvariants(storage);
    const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
    const usage = (await usageOf(storage)?.sum({ resolution: 'ever', by: ['flag', 'application'] })) ?? [];
    await storage.close();
    expect(usage.filter(({ yes, no }) => yes + no !== 1)).toEqual([]);
    const changes = events.map(({ subject, type }) => `${subject.id} ${type}`);
    const stored = new Set([...changes, ...usage.map(({ flag }) => `${flag} reported`)]);
    expect(stored.size).toBe(events.length + usage.length);
    const meant = (outcome: string) => [...told].flatMap(([change, its]) => (its === outcome ? [change] : []));
    expect(meant('done').filter((change) => !stored.has(change))).toEqual([]);
    expect(meant('storage_unavailable').filter((change) => stored.has(change))).toEqual([]);
  }
});

function anyFault(): DiskFault {
  const call = random() < 0.7 ? 'flush' : 'write';
  return { call, file: LOG, after: Math.floor(random() * 4), times: 1 + Math.floor(random() * 6) };
}

/** Returns the flags that a process finds after a crash, when no other process has the files open. */
async function flagsAfterCrash(path: string): Promise<readonly string[]> {
  const crashed = `${path}.crashed`;
  const left = ['', LOG, '-journal'].filter((end) => existsSync(path + end));
  for (const end of left) copyFileSync(path + end, crashed + end);
  const storage = await sqliteStorage(crashed);
  await expectInvariants(storage);
  const flags = await openFlags({ storage, pollInterval: 0, usage: { interval: 0 } });
  const names = (await flags.listFlags({ project: 'default' })).items.map(({ name }) => name);
  await flags.close();
  for (const end of FILES) rmSync(crashed + end, { force: true });
  return names;
}
