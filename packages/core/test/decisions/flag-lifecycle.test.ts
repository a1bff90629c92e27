import { archiveFlag, createFlag, deleteFlag, reviveFlag } from '../../src/flags/lifecycle.decide.js';
import { after, environmentState, flagState } from './flag-states.js';
import { refusalOf } from './refusal.js';

const BIRTH = { project: 'shop', createdAt: '2026-02-02T00:00:00.000Z' };

const NOW = '2026-03-03T00:00:00.000Z';

describe('creating a flag', () => {
  it('gives a live flag with the defaults', () => {
    const events = createFlag(undefined, { name: 'a', type: 'release' }, BIRTH);
    expect(events).toMatchObject([{ type: 'flag-created', before: null }]);
    expect(after(undefined, events)).toEqual({
      name: 'a',
      project: 'shop',
      description: '',
      type: 'release',
      stale: false,
      impressionData: false,
      archived: false,
      createdAt: BIRTH.createdAt,
      variants: [],
      environments: [],
      labels: [],
      owner: null,
    });
  });

  it('takes every member of the input, also a null description, and no other', () => {
    const input = {
      name: 'a',
      type: 'operational',
      description: null,
      impressionData: true,
      archived: true,
      stale: true,
    };
    expect(after(undefined, createFlag(undefined, input, BIRTH))).toMatchObject({
      description: null,
      type: 'operational',
      impressionData: true,
      archived: false,
      stale: false,
    });
  });

  it.each([{}, { archived: true }, { project: 'other' }])('refuses a taken name: %j', (changes) => {
    const decision = () => createFlag(flagState(changes), { name: 'checkout', type: 'release' }, BIRTH);
    expect(refusalOf(decision).code).toBe('flag_exists');
  });
});

describe('archiving a flag', () => {
  const flag = flagState({
    environments: [environmentState('production', ['s'], { enabled: true }), environmentState('development', ['t'])],
  });

  it('keeps its strategies and switches, and records where it was on', () => {
    const events = archiveFlag(flag, [], NOW);
    expect(events).toEqual([
      {
        type: 'flag-archived',
        data: { archived: true, enabledIn: ['production'], archivedAt: NOW },
        before: { archived: false, enabledIn: ['production'] },
      },
    ]);
    expect(after(flag, events)).toEqual({ ...flag, archived: true, archivedAt: NOW });
  });

  it('again causes no event', () => {
    expect(archiveFlag({ ...flag, archived: true }, [], NOW)).toEqual([]);
  });

  it('is refused while others depend on it, naming them', () => {
    const error = refusalOf(() => archiveFlag(flag, ['basket', 'stock'], NOW));
    expect(error.code).toBe('flag_has_children');
    expect(error.message).toContain('basket, stock');
  });
});

describe('reviving a flag', () => {
  const archived = flagState({
    archived: true,
    archivedAt: NOW,
    environments: [environmentState('production', ['s'], { enabled: true })],
  });

  it('switches it off everywhere, with its strategies', () => {
    const events = reviveFlag(archived);
    const before = { archived: true, enabledIn: ['production'] };
    expect(events).toEqual([{ type: 'flag-revived', data: { archived: false, enabledIn: [] }, before }]);
    expect(after(archived, events)).toEqual(flagState({ environments: [environmentState('production', ['s'])] }));
  });

  it('that is not archived causes no event', () => {
    expect(reviveFlag(flagState())).toEqual([]);
  });
});

describe('deleting a flag', () => {
  it('leaves nothing of an archived one', () => {
    const archived = flagState({ archived: true });
    const events = deleteFlag(archived);
    expect(events).toEqual([{ type: 'flag-deleted', data: null, before: archived }]);
    expect(after(archived, events)).toBeUndefined();
  });

  it('is refused while it is not archived', () => {
    expect(refusalOf(() => deleteFlag(flagState())).code).toBe('flag_not_archived');
  });
});

describe('an event of a missing flag', () => {
  it('has no effect', () => {
    expect(after(undefined, archiveFlag(flagState(), [], NOW))).toBeUndefined();
  });
});
