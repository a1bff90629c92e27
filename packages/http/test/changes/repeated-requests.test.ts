import { randomUUID } from 'node:crypto';
import type { Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createHostApp } from '../host-app.js';

const PROJECT = '/api/admin/projects/default';
const FEATURES = `${PROJECT}/features`;
const FLAG = `${FEATURES}/checkout`;
const CHECKOUT = { project: 'default', flag: 'checkout' };

interface World {
  readonly app: Express;
  readonly flags: Flags;
  /** What `authorize` answers for a project. */
  readonly allow: (may: (project: string | null) => boolean) => void;
  /** Who makes the requests. */
  readonly as: (name: string) => void;
}

async function createWorld(): Promise<World> {
  let may: (project: string | null) => boolean = () => true;
  let name = 'ada';
  const { app, flags } = await createHostApp({
    router: { auth: () => ({ name }), authorize: (_actor, _action, project) => may(project) },
  });
  return {
    app,
    flags,
    allow: (next) => {
      may = next;
    },
    as: (next) => {
      name = next;
    },
  };
}

describe('Idempotency-Key', () => {
  let world: World;
  let key: string;

  beforeEach(async () => {
    world = await createWorld();
    key = randomUUID();
  });

  const create = (value: string | string[], body: object = { name: 'checkout' }) =>
    request(world.app)
      .post(FEATURES)
      .set('Idempotency-Key', value as string)
      .send(body);

  it('is the id of the change set, and makes the request safe to repeat', async () => {
    const first = await create(key).expect(201);
    const { items } = await world.flags.events.list({ limit: 1 });
    expect(items[0]?.changeSet).toBe(key);
    await world.flags.updateFlag(CHECKOUT, { description: 'later' });
    const again = await create(key).expect(201);
    expect([again.text, again.headers.etag?.split('-')[0]]).toEqual([first.text, first.headers.etag?.split('-')[0]]);
    await request(world.app).put(FLAG).set('If-Match', `${again.headers.etag}`).send({ name: 'checkout' }).expect(412);
    await world.flags.archiveFlag(CHECKOUT);
    await world.flags.deleteFlag({ flag: 'checkout' });
    expect((await create(key).expect(201)).text).toBe(first.text);
  });

  it.each(['no', '', '7', '"', `"${randomUUID()}`, `${randomUUID()}, ${randomUUID()}`, 'x'.repeat(5_000)])(
    'is a UUID, not %p',
    async (value) => {
      const { body } = await create(value).expect(400);
      expect(body).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('Idempotency-Key') });
      expect(world.flags.projectOf({ flag: 'checkout' })).toBeUndefined();
    },
  );

  it('returns 409 id_taken for another actor, another path and another body', async () => {
    await create(key).expect(201);
    for (const send of [
      () => create(key, { name: 'other' }),
      () => request(world.app).delete(FLAG).set('Idempotency-Key', key),
      () => request(world.app).post(`${PROJECT}/users/7/roles/5`).set('Idempotency-Key', key),
    ]) {
      expect((await send().expect(409)).body).toMatchObject({ code: 'id_taken', name: 'ConflictError' });
    }
    world.as('grace');
    expect((await create(key).expect(409)).body.code).toBe('id_taken');
  });

  it('gets the first answer although If-Match has passed', async () => {
    const { headers } = await create(randomUUID()).expect(201);
    const change = () =>
      request(world.app)
        .put(FLAG)
        .set({ 'If-Match': `${headers.etag}`, 'Idempotency-Key': key })
        .send({ name: 'checkout', description: 'x' });
    const first = await change().expect(200);
    expect((await change().expect(200)).text).toBe(first.text);
    await request(world.app).put(FLAG).set('If-Match', `${headers.etag}`).send({ name: 'checkout' }).expect(412);
  });

  it('must be the id in the body of a change set, if both are sent', async () => {
    const changes = [{ op: 'createFlag', ref: { project: 'default' }, input: { name: 'checkout' } }];
    const apply = (body: object) =>
      request(world.app)
        .post('/api/admin/changes')
        .set('Idempotency-Key', key)
        .send({ changes, ...body });
    for (const id of [randomUUID(), 7, null]) {
      const { body } = await apply({ id }).expect(400);
      expect(body).toMatchObject({ code: 'invalid_input', details: [{ path: '/id' }] });
    }
    const first = await apply({ id: key.toUpperCase() }).expect(200);
    expect([first.body.id, (await apply({}).expect(200)).text]).toEqual([key, first.text]);
  });

  it('is refused with changes of tokens, whose secrets are shown once', async () => {
    const { token } = await world.flags.tokens.create({ name: 'a', kind: 'admin' });
    const tokens = '/api/admin/api-tokens';
    const later = { expiresAt: '2099-01-01T00:00:00.000Z' };
    for (const send of [
      () => request(world.app).post(tokens).send({ username: 'b', type: 'admin' }),
      () => request(world.app).post(`${tokens}/rotate`).send({ id: token.id }),
      () => request(world.app).put(`${tokens}/${token.id}`).send(later),
      () => request(world.app).delete(`${tokens}/${token.id}`),
    ]) {
      const { body } = await send().set('Idempotency-Key', key).expect(400);
      expect(body.message).toContain('Idempotency-Key');
    }
    expect((await world.flags.tokens.list()).items).toHaveLength(1);
  });

  describe('by a caller with permission for one project', () => {
    const SHOP = { project: 'shop' };

    beforeEach(async () => {
      await world.flags.createProject({ id: 'shop', name: 'Shop' });
      await world.flags.createFlag(SHOP, { name: 'basket' });
      await world.flags.segments.create({ name: 'eu', constraints: [], project: 'shop' });
      world.allow((project) => project === 'shop');
    });

    const send = (method: 'post' | 'put' | 'delete', path: string, body?: object) =>
      request(world.app)[method](`/api/admin${path}`).set('Idempotency-Key', key).send(body);

    it('gets the first answer after the deletion of a flag or a segment', async () => {
      await world.flags.archiveFlag({ ...SHOP, flag: 'basket' });
      await send('delete', '/archive/basket').expect(200);
      await send('delete', '/archive/basket').expect(200);
      await request(world.app).delete('/api/admin/archive/basket').expect(403);
      key = randomUUID();
      for (let time = 0; time < 2; time++) await send('delete', '/segments/1').expect(200);
    });

    it('gets the first answer after a flag has moved to another project', async () => {
      const first = await send('post', '/features/basket/tags', { value: 'a' }).expect(201);
      await world.flags.moveFlag({ ...SHOP, flag: 'basket' }, { project: 'default' });
      expect((await send('post', '/features/basket/tags', { value: 'a' }).expect(201)).text).toBe(first.text);
      await request(world.app).post('/api/admin/features/basket/tags').send({ value: 'b' }).expect(403);
    });

    it('cannot change another project by the id of a set of its own project', async () => {
      await world.flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await world.flags.archiveFlag(CHECKOUT);
      await send('post', '/features/basket/tags', { value: 'a' }).expect(201);
      expect((await send('post', '/features/checkout/tags', { value: 'a' })).body.code).toBe('id_taken');
      expect((await send('delete', '/archive/checkout')).body.code).toBe('id_taken');
      expect((await world.flags.getFlag(CHECKOUT)).labels).toEqual([]);
    });

    it('gets no answer after it has lost the permission', async () => {
      await send('post', '/features/basket/tags', { value: 'a' }).expect(201);
      world.allow(() => false);
      await send('post', '/features/basket/tags', { value: 'a' }).expect(403);
    });
  });
});
