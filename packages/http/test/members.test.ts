import type { FlagsError } from '@flags/core';
import request from 'supertest';
import { inFull } from '../../../test/extent.js';
import type { DescribeUsers } from '../../express/src/index.js';
import { createHostApp } from './host-app.js';

describe('members on the wire', () => {
  const USERS = '/api/admin/projects/default/users';

  it('are listed with the roles of the instance', async () => {
    const { app } = await createHostApp();
    await request(app).post(`${USERS}/7/roles/4`).expect(200, '');
    await request(app).post(`${USERS}/3/roles/5`).send({ userId: 3, projectId: 'default', roleId: 5 }).expect(200, '');
    const { body } = await request(app).get(USERS).expect(200);
    expect(body).toEqual({
      roles: [
        { id: 4, name: 'owner' },
        { id: 5, name: 'member' },
      ],
      users: [
        { id: 3, roleId: 5 },
        { id: 7, roleId: 4 },
      ],
    });
  });

  it.each(['0', '-1', '1.5', '1e3', '0x1', '+1', '01', 'x', '__proto__', '9007199254740992', '%20'])(
    'are refused with 400 for the id %s',
    async (id) => {
      const { app, flags } = await createHostApp();
      for (const path of [`${USERS}/${id}/roles/4`, `${USERS}/1/roles/${id}`]) {
        for (const method of ['post', 'put', 'delete'] as const) {
          const { body } = await request(app)[method](path).expect(400);
          expect(body).toEqual([{ msg: expect.stringMatching(/^\/(userId|roleId) must be a positive integer$/) }]);
        }
      }
      expect((await flags.listMembers({ project: 'default' })).items).toEqual([]);
    },
  );

  it.each([
    [{ userId: 2 }, ['/userId contradicts the path']],
    [
      { userId: 2, projectId: 'other', roleId: 5 },
      ['/userId contradicts the path', '/projectId contradicts the path', '/roleId contradicts the path'],
    ],
    [{ userId: '1' }, ['/userId must be integer']],
    [[], [' must be object']],
  ])('are refused with 400 for the body %j', async (body, messages) => {
    const { app, flags } = await createHostApp();
    for (const method of ['post', 'put'] as const) {
      const answer = await request(app)[method](`${USERS}/1/roles/4`).send(body).expect(400);
      expect(answer.body.map(({ msg }: { msg: string }) => msg)).toEqual(messages.map((text) => text.trim()));
    }
    expect((await flags.listMembers({ project: 'default' })).items).toEqual([]);
  });

  it('refuse unreadable bodies in the form of their other 400 replies', async () => {
    const { app } = await createHostApp();
    const { body } = await request(app)
      .post(`${USERS}/1/roles/4`)
      .set('content-type', 'application/json')
      .send('{')
      .expect(400);
    expect(body).toEqual([{ msg: expect.stringContaining('not JSON') }]);
  });
});

describe('described users', () => {
  const USERS = '/api/admin/projects/default/users';
  const ADA = { name: 'Ada', image: '/ada.png' };

  async function hostWith(describeUsers: DescribeUsers, members = [7, 8]) {
    const told: FlagsError[] = [];
    const calls: (readonly (number | string)[])[] = [];
    const host = await createHostApp({
      router: {
        auth: 'none',
        onError: (error) => told.push(error),
        describeUsers: (ids) => {
          calls.push(ids);
          return describeUsers(ids);
        },
      },
    });
    for (const userId of members) await host.flags.addMember({ project: 'default' }, { userId, roleId: 4 });
    return { ...host, told, calls, list: () => request(host.app).get(USERS).expect(200) };
  }

  describe('the list of members', () => {
    it.each<[string, DescribeUsers]>([
      ['a map', () => new Map([[7, ADA]])],
      ['a promise of a map', async () => new Map([[7, ADA]])],
      ['a list in the order of the ids', () => [ADA, null]],
      ['a list with ids', () => [{ id: 7, ...ADA }]],
      ['an object', () => ({ 7: ADA, 8: undefined })],
    ])('shows the names and pictures that describeUsers gives as %s', async (_, describeUsers) => {
      const { list, told } = await hostWith(describeUsers);
      const { body } = await list();
      expect(body.users).toEqual([
        { id: 7, roleId: 4, ...ADA },
        { id: 8, roleId: 4 },
      ]);
      expect(told).toEqual([]);
    });

    it('calls describeUsers once per request, and not without members', async () => {
      const { list, flags, calls } = await hostWith((ids) => ids.map(() => ADA), []);
      await list();
      expect(calls).toEqual([]);
      for (const userId of [7, 8]) await flags.addMember({ project: 'default' }, { userId, roleId: 4 });
      await list();
      await list();
      expect(calls).toEqual([
        [7, 8],
        [7, 8],
      ]);
    });

    it.each<[string, DescribeUsers]>([
      ['throws', () => Promise.reject(new Error('no directory'))],
      ['returns no descriptions', () => 'Ada' as never],
      ['gives a user without a name', () => [{ image: '/x.png' } as never]],
    ])('is answered without names when describeUsers %s', async (_, describeUsers) => {
      const { list, told, calls } = await hostWith(describeUsers);
      expect((await list()).body.users).toEqual([
        { id: 7, roleId: 4 },
        { id: 8, roleId: 4 },
      ]);
      expect(calls).toHaveLength(1);
      expect(told).toMatchObject([{ code: 'user_lookup_failed', cause: expect.any(Error) }]);
    });

    inFull('is answered without names when describeUsers does not answer in time', async () => {
      const { list, told } = await hostWith(() => new Promise(() => undefined));
      const { body } = await list();
      expect(body.users).toHaveLength(2);
      expect(told).toMatchObject([{ code: 'user_lookup_failed' }]);
    });

    it('has another ETag after a name changes', async () => {
      let name = 'Ada';
      const { list, app } = await hostWith(() => ({ 7: { name } }));
      const etag = (await list()).headers.etag ?? '';
      await request(app).get(USERS).set('If-None-Match', etag).expect(304);
      name = 'Grace';
      const { body } = await request(app).get(USERS).set('If-None-Match', etag).expect(200);
      expect(body.users[0].name).toBe('Grace');
    });

    it('has shortened long names, and omits long pictures', async () => {
      const { list } = await hostWith(() => ({ 7: { name: 'x'.repeat(1000), image: 'y'.repeat(501) } }));
      expect((await list()).body.users[0]).toEqual({ id: 7, roleId: 4, name: 'x'.repeat(200) });
    });

    it('shows ids only without describeUsers', async () => {
      const { app, flags } = await createHostApp();
      await flags.addMember({ project: 'default' }, { userId: 7, roleId: 4 });
      const { body } = await request(app).get(USERS).expect(200);
      expect(body.users).toEqual([{ id: 7, roleId: 4 }]);
    });
  });

  describe('histories, change sets and events', () => {
    it('show the users who made the changes, but no tokens', async () => {
      const { app, flags, calls } = await hostWith((ids) => Object.fromEntries(ids.map((id) => [id, ADA])), []);
      await flags.as({ id: 't', name: 'ci', kind: 'admin' }).createFlag({ project: 'default' }, { name: 'by-token' });
      const set = await flags.apply([{ op: 'createFlag', ref: { project: 'default' }, input: { name: 'new' } }], {
        actor: 'ada',
      });
      const read = async (path: string) => (await request(app).get(`/api/admin/${path}`).expect(200)).body;
      for (const path of ['history?limit=2', 'projects/default/history?limit=2']) {
        const { changes } = await read(path);
        expect(changes.map(({ actor, user }: never) => [actor, user])).toEqual([
          ['ada', ADA],
          ['ci', undefined],
        ]);
      }
      expect((await read('projects/default/features/new/history')).changes).toMatchObject([
        { actor: 'ada', user: ADA },
      ]);
      expect(await read(`changes/${set.id}`)).toMatchObject({ actor: 'ada', user: ADA });
      const { events } = await read('events?limit=2');
      expect(events.map(({ createdBy, user }: never) => [createdBy, user])).toEqual([
        ['ada', ADA],
        ['ci', undefined],
      ]);
      expect((await read('events/new')).events).toMatchObject([{ createdBy: 'ada', user: ADA }]);
      expect(calls).toEqual(Array.from({ length: 6 }, () => ['ada']));
    });

    it('have another ETag when a name changes', async () => {
      let name = 'Ada';
      const { app, flags } = await hostWith(() => ({ ada: { name } }), []);
      const ref = { project: 'default', flag: 'new' };
      await flags.as('ada').createFlag(ref, { name: 'new' });
      const tagsOf = async () => {
        const paths = ['history?limit=1', 'events?limit=1'];
        const replies = await Promise.all(paths.map((path) => request(app).get(`/api/admin/${path}`).expect(200)));
        return replies.map(({ headers }) => headers.etag);
      };
      const before = await tagsOf();
      expect(await tagsOf()).toEqual(before);
      name = 'Augusta';
      for (const [index, tag] of (await tagsOf()).entries()) expect(tag).not.toBe(before[index]);
    });
  });
});
