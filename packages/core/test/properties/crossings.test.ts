import { extent } from '../../../../test/extent.js';
import { createFlags } from '../../src/create-flags.js';
import { type Flags, isFlagsError } from '../../src/index.js';
import { type OpenStorage, PROPERTY_STORAGES } from '../storage-kinds.js';
import { expectInvariants } from './invariants.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

const ROUNDS = Array.from({ length: extent({ short: 50, full: 300 }) }, (_, round) => round);
const DEFAULT = { project: 'default' };
const OWNER = 4;

/** What two operations that begin together come to: `done`, or the code of the refusal. */
async function cross(...operations: readonly (() => Promise<unknown>)[]): Promise<readonly string[]> {
  const outcomes = await Promise.allSettled(operations.map((operation) => operation()));
  return outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return 'done';
    if (!isFlagsError(outcome.reason)) throw outcome.reason;
    return outcome.reason.code;
  });
}

/** In every other round the operations begin in the other order. */
async function crossInTurn(
  round: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly string[]> {
  return round % 2 === 0 ? cross(one, other) : (await cross(other, one)).toReversed();
}

// Two instances, so that the turns that changes of one document take within an instance do not settle the race.
describe.each(PROPERTY_STORAGES)('crossing, on $name', ({ open }) => {
  let opened: OpenStorage;
  let flags: Flags;
  let other: Flags;

  beforeEach(async () => {
    opened = await open();
    flags = await createFlags({ storage: opened.storage, pollInterval: 0 });
    other = await createFlags({ storage: opened.storage, pollInterval: 0 });
  });

  afterEach(async () => {
    await expectInvariants(opened.storage);
    await opened.dispose();
  });

  it('a copy and the archiving of its source: the copy was made before, or is refused', async () => {
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
      const { events } = await flags.listEvents({ limit: copied === 'done' ? 2 : 1 });
      expect(events.map(({ flag }) => flag)).toEqual(copied === 'done' ? [source.flag, copy.name] : [source.flag]);
    }
  });

  it('the deletion of a project and the creation of a flag in it: exactly one happens', async () => {
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
    const projects = new Set((await flags.listProjects()).map(({ id }) => id));
    const stored = await opened.storage.list({ kind: 'flag', part: 'summary' });
    expect(stored.filter(({ parent }) => !projects.has(parent ?? ''))).toEqual([]);
  });

  it('the deletion of a project and the revival of its archived flag: exactly one happens', async () => {
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

  it('the removal of the last strategy and switching on: never on without a strategy', async () => {
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

  it('the leaving of two owners: exactly one leaves', async () => {
    for (const round of ROUNDS) {
      const [staying] = await flags.listMembers(DEFAULT);
      if (!staying) await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
      await flags.addMember(DEFAULT, { userId: staying?.userId === 2 ? 1 : 2, roleId: OWNER });
      const outcomes = await crossInTurn(
        round,
        () => flags.removeMember(DEFAULT, { userId: 1, roleId: OWNER }),
        () => other.removeMember(DEFAULT, { userId: 2, roleId: OWNER }),
      );
      expect(outcomes.toSorted()).toEqual(['done', 'last_owner']);
      expect(await flags.listMembers(DEFAULT)).toHaveLength(1);
    }
  });
});
