import type { NewProject, ProjectChanges } from '../../src/index.js';
import { eventsOf, factsOf } from './facts.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT, INHERITED_NAMES } from './references.js';
import { expectRefusal } from './refusal.js';
import { settableClock } from './settable-clock.js';

const SHOP = { project: 'shop' };

onEveryStorage((start) => {
  describe('projects', () => {
    it('begin with one called default', async () => {
      const flags = await start();
      expect(await flags.listProjects()).toMatchObject([{ id: 'default', health: 100, memberCount: 0, flagCount: 0 }]);
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
      expect((await flags.listProjects()).map(({ id }) => id)).toEqual(
        [...INHERITED_NAMES, 'Z', 'a', 'default'].sort(),
      );
    });

    it('hold their own flags and members', async () => {
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

    it('are created once, of many simultaneous creations too', async () => {
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
      expect(await flags.listArchivedFlags()).toEqual([]);
      expect((await flags.createFlag(DEFAULT, { name: 'checkout' })).project).toBe('default');
    });

    it('may be created again, without their old content', async () => {
      const flags = await start();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.addMember(SHOP, { userId: 1, roleId: 4 });
      await flags.deleteProject(SHOP);
      await flags.createProject({ id: 'shop', name: 'Shop' });
      expect(await flags.listMembers(SHOP)).toEqual([]);
    });

    it('are not deleted when unknown, and default never', async () => {
      const flags = await start();
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
        const exists = (await flags.listProjects()).some(({ id }) => id === project.project);
        expect(exists).toBe(outcomes[0].status === 'fulfilled');
      }
    });

    it('are recorded, one fact per change and none for what stays', async () => {
      const flags = await start();
      const events = await eventsOf(flags, async () => {
        await flags.createProject({ id: 'shop', name: 'Shop' });
        await flags.updateProject(SHOP, { name: 'Store', description: 'All' });
        await flags.updateProject(SHOP, { name: 'Store' });
        await flags.updateProject(SHOP, {});
        await flags.deleteProject(SHOP);
      });
      expect(events).toMatchObject([
        { type: 'project-created', project: 'shop', flag: null },
        { type: 'project-updated', project: 'shop', flag: null },
        { type: 'project-deleted', project: 'shop', flag: null },
      ]);
    });
  });
});
