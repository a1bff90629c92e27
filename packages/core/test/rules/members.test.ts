import type { Flags, Member } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage, type Start } from './on-every-storage.js';
import { DEFAULT } from './references.js';
import { expectRefusal } from './refusal.js';

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
      expect(await flags.listMembers(DEFAULT)).toEqual([
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

    it.each([{ userId: 0 }, { userId: -1 }, { userId: 1.5 }, { userId: '1' }, { userId: 2 ** 60 }, { roleId: 0 }, {}])(
      'refuses ids that are not positive integers: %j',
      async (given) => {
        const flags = await start();
        const member = { userId: 1, roleId: OWNER, ...given };
        if (Object.keys(given).length === 0) Reflect.deleteProperty(member, 'userId');
        await expectRefusal(flags, 'invalid_input', () => flags.addMember(DEFAULT, member as Member));
      },
    );

    it('calls the lookup of users, if the host has one', async () => {
      const flags = await start({ isUser: (userId) => Promise.resolve(userId < 10) });
      await flags.addMember(DEFAULT, { userId: 9, roleId: OWNER });
      await expectRefusal(flags, 'user_not_found', () => flags.addMember(DEFAULT, { userId: 10, roleId: OWNER }));
    });

    it('adds one of many simultaneous additions of one user', async () => {
      const flags = await start();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) => flags.addMember(DEFAULT, { userId: 7, roleId: n % 2 ? OWNER : MEMBER })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await flags.listMembers(DEFAULT)).toHaveLength(1);
    });

    it('takes configured roles', async () => {
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
      expect(await flags.listMembers(DEFAULT)).toEqual([
        { userId: 1, roleId: MEMBER },
        { userId: 2, roleId: OWNER },
      ]);
    });

    it('does nothing for a user who is not a member, and for the role already held', async () => {
      const flags = await withOwner(start);
      expect(await factsOf(flags, () => flags.changeMemberRole(DEFAULT, { userId: 2, roleId: OWNER }))).toEqual([]);
      expect(await factsOf(flags, () => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: OWNER }))).toEqual([]);
      expect(await flags.listMembers(DEFAULT)).toEqual([{ userId: 1, roleId: OWNER }]);
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
      expect(await flags.listMembers(DEFAULT)).toEqual([{ userId: 2, roleId: OWNER }]);
    });

    it('keeps the only owner', async () => {
      const flags = await withOwner(start);
      await flags.addMember(DEFAULT, { userId: 2, roleId: MEMBER });
      await expectRefusal(flags, 'last_owner', () => flags.removeMember(DEFAULT, { userId: 1, roleId: OWNER }));
    });

    it('refuses users without the role', async () => {
      const flags = await withOwner(start);
      await expectRefusal(flags, 'member_not_found', () => flags.removeMember(DEFAULT, { userId: 1, roleId: MEMBER }));
      await expectRefusal(flags, 'member_not_found', () => flags.removeMember(DEFAULT, { userId: 2, roleId: OWNER }));
      await expectRefusal(flags, 'role_not_found', () => flags.removeMember(DEFAULT, { userId: 1, roleId: 99 }));
      await expectRefusal(flags, 'project_not_found', () => flags.removeMember(NOWHERE, { userId: 1, roleId: OWNER }));
    });

    it('lets exactly one of two owners leave at the same moment, again and again', async () => {
      const flags = await withOwner(start);
      for (let round = 0; round < 10; round++) {
        const [owner] = await flags.listMembers(DEFAULT);
        const other = { userId: 100 + round, roleId: OWNER };
        await flags.addMember(DEFAULT, other);
        const leaving = [other, { userId: owner?.userId ?? 0, roleId: OWNER }];
        const outcomes = await Promise.allSettled(leaving.map((member) => flags.removeMember(DEFAULT, member)));
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(outcomes).toContainEqual(
          expect.objectContaining({ reason: expect.objectContaining({ code: 'last_owner' }) }),
        );
        expect(await flags.listMembers(DEFAULT)).toHaveLength(1);
      }
    });
  });

  it('records each change of members as one fact of the project', async () => {
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
    expect(await flags.listMembers(DEFAULT)).toHaveLength(1);
  });

  it('refuses the members of an unknown project', async () => {
    const flags = await start();
    await expectRefusal(flags, 'project_not_found', () => flags.listMembers(NOWHERE));
  });
});
