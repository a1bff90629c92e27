import request from 'supertest';
import { createHostApp } from '../host-app.js';

const USERS = '/api/admin/projects/default/users';

describe('members on the wire', () => {
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
    'are refused with 400 by the id %s',
    async (id) => {
      const { app, flags } = await createHostApp();
      for (const path of [`${USERS}/${id}/roles/4`, `${USERS}/1/roles/${id}`]) {
        for (const method of ['post', 'put', 'delete'] as const) {
          const { body } = await request(app)[method](path).expect(400);
          expect(body).toEqual([{ msg: expect.stringMatching(/^\/(userId|roleId) must be a positive integer$/) }]);
        }
      }
      expect(await flags.listMembers({ project: 'default' })).toEqual([]);
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
  ])('are refused with 400 by the body %j', async (body, messages) => {
    const { app, flags } = await createHostApp();
    for (const method of ['post', 'put'] as const) {
      const answer = await request(app)[method](`${USERS}/1/roles/4`).send(body).expect(400);
      expect(answer.body.map(({ msg }: { msg: string }) => msg)).toEqual(messages.map((text) => text.trim()));
    }
    expect(await flags.listMembers({ project: 'default' })).toEqual([]);
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
