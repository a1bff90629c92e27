import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { extent } from '../../../../test/extent.js';
import { createFlags } from '../../src/create-flags.js';
import { sqliteStorage } from '../../src/sqlite.js';
import { childProgram, nextMessage } from '../storage/sqlite/child-program.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { createCrossedFlags, crossingSet, expectWholeSets, watchForParts } from './crossing-sets.js';
import { expectInvariants } from './invariants.js';

const ROUNDS = extent({ short: 30, full: 300 });
const SET_ROUNDS = extent({ short: 10, full: 300 });
const DEFAULT = { project: 'default' };
const OWNER = 4;

describe('four processes on one SQLite file', () => {
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
    const flags = await createFlags({ storage, pollInterval: 0 });
    await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
    for (let round = 0; round < ROUNDS; round++) {
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
    expect((await flags.listEvents({ type: 'member-removed' })).total).toBe(ROUNDS);
    await expectInvariants(storage);
    await flags.close();
  }, 120_000);

  it('apply crossing sets as a whole, and once each', async () => {
    const path = join(directory.path, 'sets.db');
    const start = childProgram('caller', directory.path);
    const storage = await sqliteStorage({ path, busyTimeout: 60_000 });
    const flags = await createFlags({ storage, pollInterval: 5 });
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
