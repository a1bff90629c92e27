import fc from 'fast-check';
import { defaultEnvironment, describeEffects, effectsToReview, hiddenToReview, isReviewed } from '../../src/admin.js';
import type { FlagVisibility } from '../../src/features/flags/effect.decide.js';
import { isFreeOfApproval } from '../../src/features/flags/review.js';
import { addMember, changeMemberRole, removeMember } from '../../src/features/projects/members.decide.js';
import type { ProjectState } from '../../src/features/projects/project.js';
import { evolveProject, type ProjectEvent } from '../../src/features/projects/project.kind.js';
import { healthOf } from '../../src/features/projects/project.operations.js';
import type { FlagEffect } from '../../src/index.js';
import { createSettings } from '../../src/options.js';
import { refusalOf } from '../decision.js';

describe('the members of a project', () => {
  const OWNER = { id: 4, name: 'owner' };
  const MEMBER = 5;

  function projectState(changes: Partial<ProjectState> = {}): ProjectState {
    return {
      id: 'shop',
      name: 'Shop',
      description: '',
      createdAt: '2026-01-01T00:00:00.000Z',
      members: [],
      ...changes,
    };
  }

  function after(project: ProjectState | undefined, events: readonly ProjectEvent[]): ProjectState | undefined {
    return events.reduce(evolveProject, project);
  }

  function withMembers(...members: readonly (readonly [number, number])[]): ProjectState {
    return projectState({ members: members.map(([userId, roleId]) => ({ userId, roleId })) });
  }

  describe('adding a member', () => {
    it('keeps members in the order of their ids', () => {
      const project = withMembers([10, MEMBER], [20, 4]);
      expect(addMember(project, { userId: 9, roleId: 4 })).toEqual([
        { type: 'member-added', data: { userId: 9, roleId: 4 }, before: null },
      ]);
      expect(after(project, addMember(project, { userId: 9, roleId: 4 }))?.members).toEqual(
        withMembers([9, 4], [10, MEMBER], [20, 4]).members,
      );
    });

    it.each([4, MEMBER])('is refused for an existing member, also with the role %i', (roleId) => {
      const refusal = refusalOf(() => addMember(withMembers([1, MEMBER]), { userId: 1, roleId }));
      expect(refusal).toMatchObject({
        code: 'member_exists',
        message: 'User already has access to project=shop',
      });
    });

    it('does not need an owner', () => {
      expect(addMember(projectState(), { userId: 1, roleId: MEMBER })).toHaveLength(1);
    });
  });

  describe('changing the role of a member', () => {
    it('is one event with the previous role', () => {
      const project = withMembers([1, 4], [2, MEMBER]);
      const events = changeMemberRole(project, { userId: 2, roleId: 4 }, OWNER);
      expect(events).toEqual([
        { type: 'member-role-changed', data: { userId: 2, roleId: 4 }, before: { userId: 2, roleId: MEMBER } },
      ]);
      expect(after(project, events)).toEqual(withMembers([1, 4], [2, 4]));
    });

    it('has no effect for users who are not members, or already have the role', () => {
      const project = withMembers([1, 4]);
      expect(changeMemberRole(project, { userId: 2, roleId: 4 }, OWNER)).toEqual([]);
      expect(changeMemberRole(project, { userId: 1, roleId: 4 }, OWNER)).toEqual([]);
    });

    it('is refused for the only owner, not for one of two', () => {
      const change = { userId: 1, roleId: MEMBER };
      expect(refusalOf(() => changeMemberRole(withMembers([1, 4], [2, MEMBER]), change, OWNER))).toMatchObject({
        code: 'last_owner',
        message: 'A project must have at least one owner.',
      });
      expect(changeMemberRole(withMembers([1, 4], [2, 4]), change, OWNER)).toHaveLength(1);
    });
  });

  describe('removing a member', () => {
    it('is one event, and keeps the others', () => {
      const project = withMembers([1, 4], [2, MEMBER]);
      const events = removeMember(project, { userId: 2, roleId: MEMBER }, OWNER);
      expect(events).toEqual([{ type: 'member-removed', data: null, before: { userId: 2, roleId: MEMBER } }]);
      expect(after(project, events)).toEqual(withMembers([1, 4]));
    });

    it('is refused with another role than the current one, and for users who are not members', () => {
      const project = withMembers([1, 4], [2, MEMBER]);
      for (const member of [
        { userId: 2, roleId: 4 },
        { userId: 1, roleId: MEMBER },
        { userId: 3, roleId: MEMBER },
      ]) {
        expect(refusalOf(() => removeMember(project, member, OWNER)).code).toBe('member_not_found');
      }
    });

    it('is refused for the only owner, but not for one of two, nor for the last member with another role', () => {
      const owner = { userId: 1, roleId: 4 };
      expect(refusalOf(() => removeMember(withMembers([1, 4]), owner, OWNER)).code).toBe('last_owner');
      expect(removeMember(withMembers([1, 4], [2, 4]), owner, OWNER)).toHaveLength(1);
      expect(removeMember(withMembers([2, MEMBER]), { userId: 2, roleId: MEMBER }, OWNER)).toHaveLength(1);
    });

    it('depends on the configured id of the role', () => {
      const owner = { id: MEMBER, name: 'owner' };
      expect(refusalOf(() => removeMember(withMembers([1, MEMBER]), { userId: 1, roleId: MEMBER }, owner)).code).toBe(
        'last_owner',
      );
      expect(removeMember(withMembers([1, 4]), { userId: 1, roleId: 4 }, owner)).toHaveLength(1);
    });
  });
});

describe('health', () => {
  const DAY = 86_400_000;
  const NOW = new Date('2026-06-01T00:00:00.000Z');
  const { flagTypes } = createSettings({});

  /** A flag of this age in milliseconds. */
  function aged(age: number, changes: { type?: string; stale?: boolean } = {}) {
    return { type: 'release', stale: false, createdAt: new Date(NOW.getTime() - age).toISOString(), ...changes };
  }

  it('is 100 without flags', () => {
    expect(healthOf([], flagTypes, NOW)).toBe(100);
  });

  it.each([
    ['release', 40],
    ['experiment', 40],
    ['operational', 7],
  ])('counts a flag of the type %s as potentially stale after more than %i days', (type, days) => {
    expect(healthOf([aged(days * DAY, { type })], flagTypes, NOW)).toBe(100);
    expect(healthOf([aged(days * DAY + 1, { type })], flagTypes, NOW)).toBe(0);
  });

  it.each(['kill-switch', 'permission', 'unheard-of', '__proto__'])(
    'never counts a flag of the type %s as old',
    (type) => {
      expect(healthOf([aged(10_000 * DAY, { type })], flagTypes, NOW)).toBe(100);
      expect(healthOf([aged(0, { type, stale: true })], flagTypes, NOW)).toBe(0);
    },
  );

  it('counts a stale and old flag once', () => {
    expect(healthOf([aged(100 * DAY, { stale: true }), aged(0)], flagTypes, NOW)).toBe(50);
  });

  it.each([
    [1, 3, 67],
    [2, 3, 33],
    [1, 8, 88],
    [1, 200, 100],
    [1, 1000, 100],
    [999, 1000, 0],
  ])('is rounded: %i stale of %i is %i', (stale, all, expected) => {
    const flags = Array.from({ length: all }, (_, n) => aged(0, { stale: n < stale }));
    expect(healthOf(flags, flagTypes, NOW)).toBe(expected);
  });

  it('is a whole number from 0 to 100, and a stale flag never increases it', () => {
    const flag = fc
      .record({ stale: fc.boolean(), age: fc.nat({ max: 60 }) })
      .map(({ stale, age }) => aged(age * DAY, { stale }));
    fc.assert(
      fc.property(fc.array(flag, { maxLength: 20 }), (flags) => {
        const health = healthOf(flags, flagTypes, NOW);
        expect(Number.isInteger(health) && health >= 0 && health <= 100).toBe(true);
        expect(healthOf([...flags, aged(0, { stale: true })], flagTypes, NOW)).toBeLessThanOrEqual(health);
      }),
    );
  });
});

describe('review', () => {
  const effect = (environment: string, before: FlagVisibility, after: FlagVisibility, flag = 'a'): FlagEffect => {
    return { project: 'default', flag, environment, before, after };
  };

  describe('the environments of an instance', () => {
    it.each([
      [['development', 'production'], 'production', ['production']],
      [['production', 'staging'], 'production', ['production']],
      [['test', 'live'], 'test', ['live']],
      [['live'], 'live', ['live']],
      [[], 'production', ['production']],
    ])('are read from %j: commands act on %s, and changes of %j are reviewed', (environments, acted, reviewed) => {
      expect(defaultEnvironment(environments)).toBe(acted);
      const all = [...new Set([...environments, ...reviewed])];
      expect(all.filter((one) => isReviewed(one, { environments, reviewIn: undefined }))).toEqual(reviewed);
    });

    it('are reviewed as the option says, regardless of their names', () => {
      const scope = { environments: ['test', 'production'], reviewIn: ['test'] };
      expect(['test', 'production', 'live'].filter((one) => isReviewed(one, scope))).toEqual(['test']);
      expect(isReviewed('production', { ...scope, reviewIn: [] })).toBe(false);
    });

    it('include those that only stored flags have', () => {
      expect(isReviewed('live', { environments: ['development', 'production'], reviewIn: undefined })).toBe(true);
    });
  });

  it('includes every effect except a new flag that is off', () => {
    const scope = { environments: ['development', 'production'], reviewIn: undefined };
    const off = effect('production', 'on', 'off');
    const gone = effect('production', 'off', 'absent');
    const all = [off, gone, effect('production', 'absent', 'off'), effect('development', 'off', 'on')];
    expect(effectsToReview(all, scope)).toEqual([off, gone]);
  });

  it('counts hidden effects wherever an environment is reviewed', () => {
    const environments = ['development', 'production'];
    expect(hiddenToReview(3, { environments, reviewIn: undefined })).toBe(3);
    expect(hiddenToReview(3, { environments, reviewIn: ['test'] })).toBe(3);
    expect(hiddenToReview(3, { environments, reviewIn: [] })).toBe(0);
  });

  it.each([
    ['absent', 'off'],
    ['on', 'off'],
  ] as const)('requires no approval from %s to %s', (before, after) => {
    expect(isFreeOfApproval({ before, after })).toBe(true);
  });

  it.each([
    ['absent', 'on'],
    ['off', 'on'],
    ['on', 'on'],
    ['off', 'off'],
    ['on', 'absent'],
    ['off', 'absent'],
  ] as const)('requires approval from %s to %s in a protected environment', (before, after) => {
    expect(isFreeOfApproval({ before, after })).toBe(false);
  });

  it('describes effects by environment, with counts and names', () => {
    const many = Array.from({ length: 1_012 }, (_, n) => effect('live', 'on', 'on', `f${n}`));
    const others = [effect('live', 'off', 'on'), effect('test', 'absent', 'off'), effect('test', 'off', 'off')];
    expect(describeEffects([...many, ...others])).toEqual([
      'live: 1,012 flags are on, and change: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 1,002 more',
      'live: 1 flag goes on: a',
      'test: 1 flag is off, and its payloads are added or removed: a',
    ]);
  });
});
