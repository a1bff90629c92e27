import { REGISTRY } from '../../src/features.js';
import type { Flags, Member, NewProject, ProjectChanges } from '../../src/index.js';
import { eventsOf, factsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { DEFAULT, INHERITED_NAMES } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { settableClock } from '../settable-clock.js';

const SHOP = { project: 'shop' };

/** Adds a document of each kind to a project, by the kind. `deleteProject` deletes them. */
const CONTENTS: Readonly<Record<string, (flags: Flags) => Promise<unknown>>> = {
  async flag(flags) {
    await flags.createFlag(SHOP, { name: 'checkout' });
    await flags.archiveFlag({ ...SHOP, flag: 'checkout' });
  },
  segment: (flags) => flags.segments.create({ ...SHOP, name: 'beta', constraints: [] }),
  token: (flags) => flags.tokens.create({ ...SHOP, name: 'web', kind: 'client', environment: 'development' }),
};

onEveryStorage((start) => {
  describe('projects', () => {
    it('include one called default at first', async () => {
      const flags = await start();
      expect((await flags.listProjects()).items).toMatchObject([
        { id: 'default', health: 100, memberCount: 0, flagCount: 0 },
      ]);
    });

    it('are created with a name and a description', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      const created = await flags.createProject({ id: 'shop', name: 'The shop' });
      expect(created).toEqual({
        id: 'shop',
        name: 'The shop',
        description: '',
        createdAt: clock.text(),
        revision: expect.any(Number),
      });
      expect(await flags.getProject(SHOP)).toMatchObject({ ...created, health: 100, memberCount: 0, flags: [] });
    });

    it('are listed by id in code-point order, whatever they are called', async () => {
      const flags = await start();
      for (const id of [...INHERITED_NAMES, 'Z', 'a']) await flags.createProject({ id, name: 'Any' });
      expect((await flags.listProjects()).items.map(({ id }) => id)).toEqual(
        [...INHERITED_NAMES, 'Z', 'a', 'default'].sort(),
      );
    });

    it('have their own flags and members', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(SHOP, { name: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'other' });
      await flags.addMember(SHOP, { userId: 1, roleId: 5 });
      expect(await flags.getProject(SHOP)).toMatchObject({
        flags: [{ name: 'checkout' }],
        flagCount: 1,
        memberCount: 1,
      });
      expect(await flags.getProject(DEFAULT)).toMatchObject({ flags: [{ name: 'other' }], memberCount: 0 });
    });

    it.each([
      {},
      { id: 'shop' },
      { name: 'Shop' },
      { id: 'a b', name: 'Shop' },
      { id: '..', name: 'Shop' },
      { id: 'x'.repeat(101), name: 'Shop' },
      { id: 'shop', name: '' },
      { id: 'shop', name: 'x'.repeat(101) },
      { id: 'shop', name: 'Shop', description: 5 },
      [],
      null,
    ])('are not created from %j', async (input) => {
      const flags = await start();
      await expectRefusal(flags, 'invalid_input', () => flags.createProject(input as unknown as NewProject));
    });

    it('are created once, also by many simultaneous creations', async () => {
      const flags = await start();
      const creations = Array.from({ length: 10 }, () => flags.createProject({ id: 'shop', name: 'Shop' }));
      const outcomes = await Promise.allSettled(creations);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await expectRefusal(flags, 'project_exists', () => flags.createProject({ id: 'shop', name: 'Shop' }));
    });

    it('are updated in name and description', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop', description: 'Sells' });
      expect(await flags.updateProject(SHOP, { description: 'Sells all' })).toMatchObject({
        id: 'shop',
        name: 'Shop',
        description: 'Sells all',
      });
      expect(await flags.updateProject(SHOP, { name: 'Store' })).toMatchObject({
        name: 'Store',
        description: 'Sells all',
      });
      const changes = { name: 5 } as unknown as ProjectChanges;
      await expectRefusal(flags, 'invalid_input', () => flags.updateProject(SHOP, changes));
      await expectRefusal(flags, 'project_not_found', () =>
        flags.updateProject({ project: 'toString' }, { name: 'x' }),
      );
    });

    it('are deleted with their archived flags, whose names are free again', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag(SHOP, { name: 'checkout' });
      await expectRefusal(flags, 'project_not_empty', () => flags.deleteProject(SHOP));
      await flags.archiveFlag({ ...SHOP, flag: 'checkout' });
      const facts = await factsOf(flags, () => flags.deleteProject(SHOP));
      expect([...facts].sort()).toEqual(['flag-deleted', 'project-deleted']);
      await expectRefusal(flags, 'project_not_found', () => flags.getProject(SHOP));
      expect((await flags.listFlags({ archived: true })).items).toEqual([]);
      expect((await flags.createFlag(DEFAULT, { name: 'checkout' })).project).toBe('default');
    });

    it('may be created again, without their old content', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.addMember(SHOP, { userId: 1, roleId: 4 });
      await flags.deleteProject(SHOP);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      expect((await flags.listMembers(SHOP)).items).toEqual([]);
    });

    it('are deleted with a document of each kind that belongs to projects', async () => {
      expect(Object.keys(CONTENTS)).toEqual(REGISTRY.kindsInProjects);
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      for (const add of Object.values(CONTENTS)) await add(flags);
      const facts = await factsOf(flags, () => flags.deleteProject(SHOP));
      const deletions = REGISTRY.kindsInProjects.map((kind) => `${kind}-deleted`);
      expect([...facts].sort()).toEqual([...deletions, 'project-deleted'].sort());
    });

    it('are not deleted when unknown, and default never', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_protected', () => flags.deleteProject(DEFAULT));
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await expectRefusal(flags, 'project_protected', () => flags.deleteProject(DEFAULT));
      await expectRefusal(flags, 'project_not_found', () => flags.deleteProject(SHOP));
    });

    it('never lose a flag that is created while they are deleted', async () => {
      const flags = await start();
      for (let round = 0; round < 10; round++) {
        const project = { project: `shop-${round}` };
        await flags.createProject({ id: project.project, name: 'Shop' });
        const creation = flags.createFlag(project, { name: `checkout-${round}` });
        const outcomes = await Promise.allSettled([creation, flags.deleteProject(project)]);
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        const exists = (await flags.listProjects()).items.some(({ id }) => id === project.project);
        expect(exists).toBe(outcomes[0].status === 'fulfilled');
      }
    });

    it('are recorded, one event per change and none without a difference', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        await flags.createProject({ id: 'shop', name: 'Shop' });
        await flags.updateProject(SHOP, { name: 'Store', description: 'All' });
        await flags.updateProject(SHOP, { name: 'Store', description: 'Most' });
        await flags.updateProject(SHOP, { name: 'Store' });
        await flags.updateProject(SHOP, {});
        await flags.deleteProject(SHOP);
      });
      expect(events).toMatchObject([
        { type: 'project-created', project: 'shop', flag: null },
        { type: 'project-updated', project: 'shop', flag: null },
        { type: 'project-updated', data: { description: 'Most' }, before: { description: 'All' } },
        { type: 'project-deleted', project: 'shop', flag: null },
      ]);
    });
  });
});

it('projects contain documents of every other kind but rollouts, change requests and the policy, which are deleted with them', () => {
  // A change request may change several projects: when it is due, it fails, and names the missing one. A rollout ends with its flag.
  const others = REGISTRY.kinds
    .map(({ documents }) => documents.kind)
    .filter((kind) => !['project', 'rollout', 'change-request', 'settings'].includes(kind));
  expect(REGISTRY.kindsInProjects).toEqual(others.sort());
});

describe('members', () => {
  const OWNER = 4;
  const MEMBER = 5;
  const NOWHERE = { project: 'none' };

  async function withOwner(start: Start): Promise<Flags> {
    const flags = await start();
    await flags.addMember(DEFAULT, { userId: 1, roleId: OWNER });
    return flags;
  }

  onEveryStorage((start) => {
    describe('adding a member', () => {
      it('gives the user the role, and lists members by user id', async () => {
        const flags = await start();
        await flags.addMember(DEFAULT, { userId: 30, roleId: MEMBER });
        await flags.addMember(DEFAULT, { userId: 4, roleId: OWNER });
        expect((await flags.listMembers(DEFAULT)).items).toEqual([
          { userId: 4, roleId: OWNER },
          { userId: 30, roleId: MEMBER },
        ]);
        expect((await flags.getProject(DEFAULT)).memberCount).toBe(2);
      });

      it('refuses a user who is a member, with any role', async () => {
        const flags = await withOwner(start);
        for (const roleId of [OWNER, MEMBER]) {
          await expectRefusal(flags, 'member_exists', () => flags.addMember(DEFAULT, { userId: 1, roleId }));
        }
      });

      it('refuses an unknown role and an unknown project', async () => {
        const flags = await start();
        await expectRefusal(flags, 'role_not_found', () => flags.addMember(DEFAULT, { userId: 1, roleId: 99 }));
        await expectRefusal(flags, 'project_not_found', () => flags.addMember(NOWHERE, { userId: 1, roleId: OWNER }));
      });

      it.each([
        { userId: 0 },
        { userId: -1 },
        { userId: 1.5 },
        { userId: '1' },
        { userId: 2 ** 60 },
        { roleId: 0 },
        {},
      ])('refuses ids that are not positive integers: %j', async (given) => {
        const flags = await start();
        const member = { userId: 1, roleId: OWNER, ...given };
        if (Object.keys(given).length === 0) Reflect.deleteProperty(member, 'userId');
        await expectRefusal(flags, 'invalid_input', () => flags.addMember(DEFAULT, member as Member));
      });

      it('calls the lookup of users, if the host has one', async () => {
        const flags = await start({ isUser: (userId) => Promise.resolve(userId < 10) });
        await flags.addMember(DEFAULT, { userId: 9, roleId: OWNER });
        await expectRefusal(flags, 'user_not_found', () => flags.addMember(DEFAULT, { userId: 10, roleId: OWNER }));
      });

      it('adds a user once in many simultaneous additions', async () => {
        const flags = await start();
        const outcomes = await Promise.allSettled(
          Array.from({ length: 10 }, (_, n) => flags.addMember(DEFAULT, { userId: 7, roleId: n % 2 ? OWNER : MEMBER })),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
      });

      it('accepts configured roles', async () => {
        const flags = await start({
          roles: [
            { id: 1, name: 'owner' },
            { id: 2, name: 'viewer' },
          ],
        });
        await flags.addMember(DEFAULT, { userId: 1, roleId: 2 });
        await expectRefusal(flags, 'role_not_found', () => flags.addMember(DEFAULT, { userId: 2, roleId: OWNER }));
      });
    });

    describe('changing a member’s role', () => {
      it('gives the member the new role', async () => {
        const flags = await withOwner(start);
        await flags.addMember(DEFAULT, { userId: 2, roleId: MEMBER });
        await flags.changeMemberRole(DEFAULT, { userId: 2, roleId: OWNER });
        await flags.changeMemberRole(DEFAULT, { userId: 1, roleId: MEMBER });
        expect((await flags.listMembers(DEFAULT)).items).toEqual([
          { userId: 1, roleId: MEMBER },
          { userId: 2, roleId: OWNER },
        ]);
      });

      it('does nothing for a user who is not a member, and for the current role', async () => {
        const flags = await withOwner(start);
        expect(await factsOf(flags, () => flags.changeMemberRole(DEFAULT, { userId: 2, roleId: OWNER }))).toEqual([]);
        expect(await factsOf(flags, () => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: OWNER }))).toEqual([]);
        expect((await flags.listMembers(DEFAULT)).items).toEqual([{ userId: 1, roleId: OWNER }]);
      });

      it('keeps the only owner an owner', async () => {
        const flags = await withOwner(start);
        await flags.addMember(DEFAULT, { userId: 2, roleId: MEMBER });
        await expectRefusal(flags, 'last_owner', () => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: MEMBER }));
      });

      it('refuses an unknown role and an unknown project', async () => {
        const flags = await withOwner(start);
        await expectRefusal(flags, 'role_not_found', () => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: 99 }));
        await expectRefusal(flags, 'project_not_found', () =>
          flags.changeMemberRole(NOWHERE, { userId: 1, roleId: MEMBER }),
        );
      });
    });

    describe('removing a member', () => {
      it('removes the member with this role', async () => {
        const flags = await withOwner(start);
        await flags.addMember(DEFAULT, { userId: 2, roleId: OWNER });
        await flags.removeMember(DEFAULT, { userId: 1, roleId: OWNER });
        expect((await flags.listMembers(DEFAULT)).items).toEqual([{ userId: 2, roleId: OWNER }]);
      });

      it('keeps the only owner', async () => {
        const flags = await withOwner(start);
        await flags.addMember(DEFAULT, { userId: 2, roleId: MEMBER });
        await expectRefusal(flags, 'last_owner', () => flags.removeMember(DEFAULT, { userId: 1, roleId: OWNER }));
      });

      it('refuses users without the role', async () => {
        const flags = await withOwner(start);
        await expectRefusal(flags, 'member_not_found', () =>
          flags.removeMember(DEFAULT, { userId: 1, roleId: MEMBER }),
        );
        await expectRefusal(flags, 'member_not_found', () => flags.removeMember(DEFAULT, { userId: 2, roleId: OWNER }));
        await expectRefusal(flags, 'role_not_found', () => flags.removeMember(DEFAULT, { userId: 1, roleId: 99 }));
        await expectRefusal(flags, 'project_not_found', () =>
          flags.removeMember(NOWHERE, { userId: 1, roleId: OWNER }),
        );
      });

      it('lets exactly one of two owners leave at the same moment, repeatedly', async () => {
        const flags = await withOwner(start);
        for (let round = 0; round < 10; round++) {
          const [owner] = (await flags.listMembers(DEFAULT)).items;
          const other = { userId: 100 + round, roleId: OWNER };
          await flags.addMember(DEFAULT, other);
          const leaving = [other, { userId: owner?.userId ?? 0, roleId: OWNER }];
          const outcomes = await Promise.allSettled(leaving.map((member) => flags.removeMember(DEFAULT, member)));
          expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
          expect(outcomes).toContainEqual(
            expect.objectContaining({ reason: expect.objectContaining({ code: 'last_owner' }) }),
          );
          expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
        }
      });
    });

    it('are recorded, one event of the project per change', async () => {
      const flags = await withOwner(start);
      const facts = await eventsOf(flags, async () => {
        await flags.addMember(DEFAULT, { userId: 2, roleId: MEMBER });
        await flags.changeMemberRole(DEFAULT, { userId: 2, roleId: OWNER });
        await flags.removeMember(DEFAULT, { userId: 2, roleId: OWNER });
      });
      expect(facts).toMatchObject([
        { type: 'member-added', project: 'default', flag: null },
        { type: 'member-role-changed', project: 'default', flag: null },
        { type: 'member-removed', project: 'default', flag: null },
      ]);
      expect((await flags.listMembers(DEFAULT)).items).toHaveLength(1);
    });

    it('are refused for an unknown project', async () => {
      const flags = await start();
      await expectRefusal(flags, 'project_not_found', () => flags.listMembers(NOWHERE));
    });
  });
});
