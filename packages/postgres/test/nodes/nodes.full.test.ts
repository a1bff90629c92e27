import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Flags, type FlagsStorage, openFlags } from '@flags/core';
import { extent } from '../../../../test/extent.js';
import {
  createCrossedFlags,
  crossingSet,
  expectWholeSets,
  watchForParts,
} from '../../../core/test/changesets/crossing-sets.js';
import { expectInvariants } from '../../../core/test/invariants/invariants.js';
import { nextMessage, program } from '../../../core/test/storage/sqlite/child-program.js';
import { temporaryDirectory } from '../../../core/test/storage/temporary-directory.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import type { Call } from './children/node.js';

const ROUNDS = extent({ short: 10, full: 300 });
const DEFAULT = { project: 'default' };
const OWNER = 4;

describe('four processes on one PostgreSQL database', () => {
  const { url, ask } = ownDatabase();
  const directory = temporaryDirectory();
  let nodes: readonly ChildProcess[] = [];
  let storage: FlagsStorage;
  let flags: Flags;

  beforeAll(async () => {
    const start = program(join(__dirname, 'children/node.ts'), directory.path);
    nodes = Array.from({ length: 4 }, () => start(url()));
    await Promise.all(nodes.map(nextMessage));
    storage = await postgresStorage(url());
    flags = await openFlags({ storage, usage: { interval: 0 } });
  });

  afterAll(async () => {
    for (const node of nodes) {
      node.kill('SIGKILL');
      await once(node, 'exit');
    }
    await flags.close();
    directory.remove();
  });

  /** Calls all nodes at once. Returns the outcomes in the order of the nodes. */
  async function race(callOf: (node: number) => Call): Promise<string[]> {
    const answers = nodes.map(nextMessage);
    nodes.forEach((node, index) => {
      node.send(callOf(index));
    });
    return (await Promise.all(answers)).map(String);
  }

  it('let exactly one of two owners leave, repeatedly', async () => {
    await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
    for (let round = 0; round < ROUNDS; round++) {
      const [staying] = (await flags.listMembers(DEFAULT)).items;
      await flags.addMember(DEFAULT, { userId: staying?.userId === 1 ? 2 : 1, roleId: OWNER });
      const outcomes = await race((node) => ({
        call: 'removeMember',
        input: [DEFAULT, { userId: 1 + (node % 2), roleId: OWNER }],
      }));
      expect(outcomes.toSorted()).toEqual(['done', 'last_owner', 'last_owner', 'member_not_found']);
      expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
    }
  });

  it('create one flag of one name', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const outcomes = await race(() => ({ call: 'createFlag', input: [DEFAULT, { name: `same-${round}` }] }));
      expect(outcomes.toSorted()).toEqual(['done', 'flag_exists', 'flag_exists', 'flag_exists']);
    }
  });

  it('never clone a flag after it was archived', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const flag = `source-${round}`;
      await flags.createFlag(DEFAULT, { name: flag });
      const ref = { ...DEFAULT, flag };
      const [first, second, ...clones] = await race((node) =>
        node < 2
          ? { call: 'archiveFlag', input: [ref] }
          : { call: 'cloneFlag', input: [ref, { name: `clone-${round}-${node}` }] },
      );
      expect([first, second]).toEqual(['done', 'done']);
      for (const outcome of clones) expect(['done', 'flag_archived']).toContain(outcome);
    }
    expect(await clonesAfterArchiving()).toEqual([]);
  });

  async function clonesAfterArchiving(): Promise<string[]> {
    const archived = new Set<string>();
    const { events } = await storage.events({ order: 'oldest-first', limit: 1_000_000 });
    return events.flatMap(({ type, subject: { id } }) => {
      if (type === 'flag-archived') archived.add(id);
      const [, round] = /^clone-(\d+)-/.exec(id) ?? [];
      return type === 'flag-created' && archived.has(`source-${round}`) ? [id] : [];
    });
  }

  it('never make two flags depend on each other, in commits that cross', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [`a-${round}`, `b-${round}`];
      for (const name of [a, b]) await flags.createFlag(DEFAULT, { name });
      const outcomes = await race((node) => ({
        call: 'addDependency',
        input: node % 2 === 0 ? [{ ...DEFAULT, flag: a }, { flag: b }] : [{ ...DEFAULT, flag: b }, { flag: a }],
      }));
      // Two nodes for each dependency: the second finds that it exists.
      const [even, odd] = [outcomes[0], outcomes[1]];
      expect(outcomes).toEqual([even, odd, even, odd]);
      expect([even, odd].sort()).toEqual(['dependency_too_deep', 'done']);
    }
  });

  it('apply crossing sets as a whole, and once each', async () => {
    await createCrossedFlags(flags);
    const parts = watchForParts(flags);
    for (let round = 0; round < ROUNDS; round++) {
      const outcomes = await race((node) => ({ call: 'apply', input: [crossingSet(round, node)] }));
      expect(outcomes).toEqual(['done', 'done', 'done', 'done']);
    }
    await flags.refresh();
    expect(parts).toEqual([]);
    await expectWholeSets(flags, ROUNDS);
  });

  it('keep every rule, and every document equal to its replayed events', async () => {
    await expectInvariants(storage);
  });

  it('cause no deadlock', async () => {
    const [statistics] = await ask('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
    expect(statistics?.deadlocks).toBe('0');
  });
});
