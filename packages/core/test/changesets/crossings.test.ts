import { join } from 'node:path';
import Database from 'better-sqlite3';
import { extent } from '../../../../test/extent.js';
import { type Flags, isFlagsError } from '../../src/index.js';
import { openFlags } from '../../src/open-flags.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { engineOn } from '../invariants/engine-under-test.js';
import { expectInvariants } from '../invariants/invariants.js';
import { contentOf } from '../invariants/stored-content.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { type OpenStorage, PROPERTY_STORAGES } from '../storage-kinds.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

const DEFAULT = { project: 'default' };

const ROUNDS = Array.from({ length: extent({ short: 50, full: 300 }) }, (_, round) => round);

const OWNER = 4;

/** The outcomes of two operations that start together: `done`, or the code of the refusal. */
async function cross(...operations: readonly (() => Promise<unknown>)[]): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(operations.map((operation) => operation()));
  return outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return 'done';
    if (!isFlagsError(outcome.reason)) throw outcome.reason;
    return outcome.reason.code;
  });
}

/** In every other round the operations start in the other order. */
async function crossInTurn(
  round: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly string[]> {
  return round % 2 === 0 ? cross(one, other) : (await cross(other, one)).toReversed();
}

// Two instances, because one instance would serialize the changes of a document.
describe.each(PROPERTY_STORAGES)('operations that cross, on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags<string>;
  let other: Flags<string>;

  beforeEach(async () => {
    opened = await open();
    flags = await openFlags({ storage: opened.storage, pollInterval: 0 });
    other = await openFlags({ storage: opened.storage, pollInterval: 0 });
  });
  afterEach(async () => {
    await expectInvariants(opened.storage);
    await opened.dispose();
  });

  it('copy a flag before its source is archived, or are refused', async () => {
    await Promise.all(ROUNDS.map((round) => flags.createFlag(DEFAULT, { name: `source-${round}` })));
    for (const round of ROUNDS) {
      const source = { ...DEFAULT, flag: `source-${round}` };
      const copy = { name: `copy-${round}` };
      const [copied, archived] = await crossInTurn(
        round,
        () => flags.cloneFlag(source, copy),
        () => other.archiveFlag(source),
      );
      expect(archived).toBe('done');
      expect(['done', 'flag_archived']).toContain(copied);
      const { items: events } = await flags.events.list({ limit: copied === 'done' ? 2 : 1 });
      expect(events.map(({ flag }) => flag)).toEqual(copied === 'done' ? [source.flag, copy.name] : [source.flag]);
    }
  });

  it('delete a project or create a flag in it, never both', async () => {
    await Promise.all(ROUNDS.map((round) => flags.createProject({ id: `p-${round}`, name: 'P' })));
    for (const round of ROUNDS) {
      const project = `p-${round}`;
      const [deleted, created] = await crossInTurn(
        round,
        () => flags.deleteProject({ project }),
        () => other.createFlag({ project }, { name: `flag-${round}` }),
      );
      expect([
        ['done', 'project_not_found'],
        ['project_not_empty', 'done'],
      ]).toContainEqual([deleted, created]);
    }
    const projects = new Set((await flags.listProjects()).items.map(({ id }) => id));
    const stored = await opened.storage.list({ kind: 'flag', part: 'summary' });
    expect(stored.filter(({ parent }) => !projects.has(parent ?? ''))).toEqual([]);
  });

  it('delete a project or revive its archived flag, never both', async () => {
    const refs = ROUNDS.map((round) => ({ project: `p-${round}`, flag: `flag-${round}` }));
    await Promise.all(refs.map(({ project }) => flags.createProject({ id: project, name: 'P' })));
    await Promise.all(refs.map((ref) => flags.createFlag(ref, { name: ref.flag })));
    await Promise.all(refs.map((ref) => flags.archiveFlag(ref)));
    for (const [round, ref] of refs.entries()) {
      const outcomes = await crossInTurn(
        round,
        () => flags.deleteProject(ref),
        () => other.reviveFlag(ref),
      );
      expect([
        ['done', 'flag_not_found'],
        ['project_not_empty', 'done'],
      ]).toContainEqual(outcomes);
    }
  });

  it('remove the last strategy and switch on, but never leave a flag on without a strategy', async () => {
    const place = { ...DEFAULT, flag: 'checkout', environment: 'production' };
    await flags.createFlag(DEFAULT, { name: place.flag });
    for (const round of ROUNDS) {
      const { id } = await flags.addStrategy(place, { name: 'default' });
      const [removed, enabled] = await crossInTurn(
        round,
        () => flags.removeStrategy({ ...place, strategy: id }),
        () => other.enable(place),
      );
      expect(removed).toBe('done');
      expect(['done', 'environment_has_no_strategies']).toContain(enabled);
      const { environments } = await flags.getFlag(place);
      expect(environments[1]).toMatchObject({ enabled: false, strategies: [] });
    }
  });

  it('remove exactly one of two owners', async () => {
    for (const round of ROUNDS) {
      const [staying] = (await flags.listMembers(DEFAULT)).items;
      if (!staying) await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
      await flags.addMember(DEFAULT, { userId: staying?.userId === 2 ? 1 : 2, roleId: OWNER });
      const outcomes = await crossInTurn(
        round,
        () => flags.removeMember(DEFAULT, { userId: 1, roleId: OWNER }),
        () => other.removeMember(DEFAULT, { userId: 2, roleId: OWNER }),
      );
      expect(outcomes.toSorted()).toEqual(['done', 'last_owner']);
      expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
    }
  });
});

describe('a disk that fails when an event is written', () => {
  const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
  const PLACE = { ...CHECKOUT, environment: 'development' };
  const STRATEGY = { ...PLACE, strategy: 'id-0' };
  const OLD = { project: 'shop', flag: 'old' };

  /** Every change, by the type of the last event that it appends. */
  const CHANGES: readonly (readonly [string, (flags: Flags<string>) => Promise<unknown>])[] = [
    ['project-created', (flags) => flags.createProject({ id: 'new', name: 'New' })],
    ['project-updated', (flags) => flags.updateProject(DEFAULT, { name: 'Changed' })],
    ['project-deleted', (flags) => flags.deleteProject({ project: 'shop' })],
    ['member-added', (flags) => flags.addMember(DEFAULT, { userId: 2, roleId: 4 })],
    ['member-role-changed', (flags) => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: 4 })],
    ['member-removed', (flags) => flags.removeMember(DEFAULT, { userId: 1, roleId: 5 })],
    ['flag-created', (flags) => flags.createFlag(DEFAULT, { name: 'new' })],
    ['flag-created', (flags) => flags.cloneFlag(CHECKOUT, { name: 'copy' })],
    ['flag-stale-on', (flags) => flags.updateFlag(CHECKOUT, { description: 'changed', stale: true })],
    ['flag-archived', (flags) => flags.archiveFlag(CHECKOUT)],
    ['flag-revived', (flags) => flags.reviveFlag(OLD)],
    ['flag-deleted', (flags) => flags.deleteFlag(OLD)],
    // Along with the project, in the same commit.
    ['flag-deleted', (flags) => flags.deleteProject({ project: 'shop' })],
    ['strategy-added', (flags) => flags.addStrategy(PLACE, { name: 'default' })],
    ['strategy-updated', (flags) => flags.updateStrategy(STRATEGY, { name: 'other' })],
    ['environment-disabled', (flags) => flags.removeStrategy(STRATEGY)],
    ['environment-disabled', (flags) => flags.disable(PLACE)],
    ['environment-enabled', (flags) => flags.enable({ ...CHECKOUT, environment: 'constructor' })],
    ['variants-updated', (flags) => flags.setVariants(CHECKOUT, [{ name: 'blue' }])],
    ['token-created', (flags) => flags.tokens.create({ name: 'new', kind: 'admin' })],
    ['token-deleted', (flags) => flags.tokens.delete({ token: 'secret-of-at-least-32-printable-characters' })],
  ];

  let directory: ReturnType<typeof temporaryDirectory>;
  let storage: FlagsStorage;
  let flags: Flags<string>;
  let saboteur: Database.Database;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    storage = await sqliteStorage(path);
    flags = await engineOn(storage);
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PLACE, { name: 'default' });
    await flags.enable(PLACE);
    await flags.addStrategy({ ...CHECKOUT, environment: 'constructor' }, { name: 'default' });
    await flags.addMember(DEFAULT, { userId: 1, roleId: 5 });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag(OLD, { name: 'old' });
    await flags.archiveFlag(OLD);
    await flags.tokens.create({ name: 'known', kind: 'admin', secret: 'secret-of-at-least-32-printable-characters' });
    saboteur = new Database(path);
  });
  afterEach(async () => {
    saboteur.close();
    await flags.close();
    directory.remove();
  });

  it.each(CHANGES)('leaves nothing of the change (%s), whose repetition succeeds', async (type, change) => {
    const before = await contentOf(storage);
    saboteur.exec(`
      CREATE TRIGGER poison BEFORE INSERT ON flags_events WHEN NEW.type = '${type}'
      BEGIN SELECT RAISE(ABORT, 'injected fault'); END
    `);
    await expect(change(flags)).rejects.toMatchObject({ message: 'injected fault' });
    expect(await contentOf(storage)).toEqual(before);
    saboteur.exec('DROP TRIGGER poison');
    await change(flags);
    const after = await contentOf(storage);
    expect(after.events.slice(before.events.length).map((event) => event.type)).toContain(type);
    await expectInvariants(storage);
  });
});
