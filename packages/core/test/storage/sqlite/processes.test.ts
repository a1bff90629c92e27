import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { extent } from '../../../../../test/extent.js';
import { openFlags } from '../../../src/open-flags.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { createCrossedFlags, crossingSet, expectWholeSets, watchForParts } from '../../changesets/crossing-sets.js';
import { expectInvariants } from '../../invariants/invariants.js';
import { flag, put } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { childProgram, nextMessage } from './child-program.js';
import type { Outcome } from './children/committer.js';
import type { Round } from './children/contender.js';

const ROUNDS = extent({ short: 100, full: 300 });
const OWNER_ROUNDS = extent({ short: 30, full: 300 });
const SET_ROUNDS = extent({ short: 10, full: 300 });
const DEFAULT = { project: 'default' };
const OWNER = 4;

describe('several processes on one SQLite file', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;
  let children: ChildProcess[];

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
    children = [];
  });
  afterEach(async () => {
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    // Listens to all at once, because a process reports its end only once.
    const exits = running.map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(exits);
    directory.remove();
  });

  function start(name: string, count: number): ChildProcess[] {
    const program = childProgram(name, directory.path);
    children = Array.from({ length: count }, () => program(path));
    return children;
  }

  it(`commit exactly one of four conflicting changes, ${ROUNDS} times`, async () => {
    const storage = await sqliteStorage(path);
    await storage.commit({ writes: [put('ada'), put('grace')], events: [] });
    const contenders = start('contender', 4);
    await Promise.all(contenders.map(nextMessage));
    const revisions: [number, number] = [1, 1];
    for (let number = 0; number < ROUNDS; number++) {
      const answers = contenders.map(nextMessage);
      contenders.forEach((contender, index) => {
        const round: Round = { revisions, leaving: index % 2 === 0 ? 0 : 1 };
        contender.send(round);
      });
      const won = await Promise.all(answers);
      expect(won.filter(Boolean)).toHaveLength(1);
      revisions[won.indexOf(true) % 2 === 0 ? 0 : 1] += 1;
    }
    expect((await storage.get(flag('ada')))?.revision).toBe(revisions[0]);
    expect((await storage.get(flag('grace')))?.revision).toBe(revisions[1]);
    expect((await storage.events({ order: 'oldest-first', limit: 0, total: true })).total).toBe(ROUNDS);
    await storage.close();
  }, 120_000);

  it('lose no acknowledged change when one is killed during a write', async () => {
    const [writer] = start('writer', 1);
    const acknowledged: string[] = [];
    await new Promise<void>((resolve) => {
      writer?.on('message', (id: string) => {
        acknowledged.push(id);
        if (acknowledged.length >= 300) resolve();
      });
    });
    writer?.kill('SIGKILL');
    await once(writer as ChildProcess, 'exit');
    const database = new Database(path);
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    database.close();
    const storage = await sqliteStorage(path);
    const stored = new Set((await storage.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    // A document and its event were written together or not at all.
    const { events } = await storage.events({ order: 'oldest-first', limit: stored.size + 1 });
    expect(new Set(events.map(({ subject }) => subject.id))).toEqual(stored);
    await storage.close();
  }, 60_000);

  it('create the tables once when all open a new file at the same moment', async () => {
    const openers = start('opener', 6);
    await Promise.all(openers.map(nextMessage));
    const answers = openers.map(nextMessage);
    for (const opener of openers) opener.send('open');
    expect(await Promise.all(answers)).toEqual([true, true, true, true, true, true]);
    const storage = await sqliteStorage(path);
    const ids = (await storage.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id);
    expect(new Set(ids)).toEqual(new Set(openers.map(({ pid }) => `p${pid}`)));
    await storage.close();
  }, 60_000);

  it.each([
    ['removed', () => rmSync(`${path}-shm`)],
    [
      'replaced by a copy',
      () => {
        copyFileSync(`${path}-shm`, `${path}-copy`);
        renameSync(`${path}-copy`, `${path}-shm`);
      },
    ],
  ])('lose no acknowledged change when the -shm is %s', async (_, lose) => {
    const program = childProgram('committer', directory.path);
    const acknowledged = new Set<string>();
    const startOne = async () => {
      const child = program(path);
      children.push(child);
      await nextMessage(child);
      return child;
    };
    const commit = async (child: ChildProcess, ids: readonly string[]) => {
      const answer = nextMessage(child);
      child.send(ids);
      const outcomes = (await answer) as readonly Outcome[];
      for (const { id, code } of outcomes) if (code === undefined) acknowledged.add(id);
      return new Set(outcomes.map(({ code }) => code));
    };
    const group = (name: string) => Array.from({ length: 10 }, (_, number) => `${name}-${number}`);

    const before = await startOne();
    for (let round = 0; round < 5; round++) await commit(before, group(`first-${round}`));
    lose();
    const after = await startOne();
    const codes = new Set<string | undefined>();
    for (let round = 0; round < 10; round++) {
      expect(await commit(after, group(`after-${round}`))).toEqual(new Set([undefined]));
      for (const code of await commit(before, group(`before-${round}`))) codes.add(code);
    }
    expect(codes).toEqual(new Set(['storage_unavailable']));
    for (const child of children) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    const storage = await sqliteStorage(path);
    const stored = (await storage.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id);
    expect(new Set(stored)).toEqual(acknowledged);
    await storage.close();
  });
});

describe('the engines of four processes on one SQLite file', () => {
  const directory = temporaryDirectory();
  let children: readonly ChildProcess[] = [];

  afterAll(async () => {
    for (const child of children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    directory.remove();
  });

  it('remove exactly one of two owners, repeatedly', async () => {
    const path = join(directory.path, 'flags.db');
    const start = childProgram('leaving-owner', directory.path);
    children = Array.from({ length: 4 }, () => start(path));
    await Promise.all(children.map(nextMessage));
    const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
    const flags = await openFlags({ storage, pollInterval: 0 });
    await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
    for (let round = 0; round < OWNER_ROUNDS; round++) {
      const [staying] = (await flags.listMembers(DEFAULT)).items;
      await flags.addMember(DEFAULT, { userId: staying?.userId === 1 ? 2 : 1, roleId: OWNER });
      const answers = children.map(nextMessage);
      // Two processes for each of the owners: one of the four succeeds.
      children.forEach((child, index) => {
        child.send({ userId: 1 + (index % 2), roleId: OWNER });
      });
      const outcomes = (await Promise.all(answers)).map(String);
      expect(outcomes.toSorted()).toEqual(['last_owner', 'last_owner', 'left', 'member_not_found']);
      expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
    }
    expect((await flags.events.list({ type: 'member-removed' })).total).toBe(OWNER_ROUNDS);
    await expectInvariants(storage);
    await flags.close();
  }, 120_000);

  it('apply crossing sets as a whole, and once each', async () => {
    const path = join(directory.path, 'sets.db');
    const start = childProgram('caller', directory.path);
    const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
    const flags = await openFlags({ storage, pollInterval: 5 });
    await createCrossedFlags(flags);
    const callers = Array.from({ length: 4 }, () => start(path));
    children = [...children, ...callers];
    await Promise.all(callers.map(nextMessage));
    const parts = watchForParts(flags);
    for (let round = 0; round < SET_ROUNDS; round++) {
      const answers = callers.map(nextMessage);
      callers.forEach((caller, node) => {
        caller.send({ call: 'apply', input: [crossingSet(round, node)] });
      });
      expect(await Promise.all(answers)).toEqual(['done', 'done', 'done', 'done']);
    }
    await flags.refresh();
    expect(parts).toEqual([]);
    await expectWholeSets(flags, SET_ROUNDS);
    await expectInvariants(storage);
    await flags.close();
  }, 120_000);
});
