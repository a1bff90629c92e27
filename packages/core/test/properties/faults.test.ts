import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Flags } from '../../src/index.js';
import { sqliteStorage } from '../../src/sqlite.js';
import type { Storage } from '../../src/storage/port.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { engineOn } from './engine-under-test.js';
import { expectInvariants } from './invariants.js';
import { contentOf } from './stored-content.js';

const DEFAULT = { project: 'default' };
const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
const PLACE = { ...CHECKOUT, environment: 'development' };
const STRATEGY = { ...PLACE, strategy: 'id-0' };
const OLD = { project: 'shop', flag: 'old' };

/** Every change, by the type of the last event that it appends. */
const CHANGES: readonly (readonly [string, (flags: Flags) => Promise<unknown>])[] = [
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
  ['token-created', (flags) => flags.createToken({ name: 'new', kind: 'admin' })],
  ['token-deleted', (flags) => flags.deleteToken({ token: 'secret-of-at-least-32-printable-characters' })],
];

describe('a disk that fails when an event is written', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let storage: Storage;
  let flags: Flags;
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
    await flags.createToken({ name: 'known', kind: 'admin', secret: 'secret-of-at-least-32-printable-characters' });
    saboteur = new Database(path);
  });

  afterEach(async () => {
    saboteur.close();
    await flags.close();
    directory.remove();
  });

  it.each(CHANGES)('leaves nothing of the change (%s), which succeeds when it is repeated', async (type, change) => {
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
