import type { Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import { createHostApp, FLAGS } from '../host-app.js';

const CHECKOUT = { project: 'default', flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const FLAG = `${FLAGS}/checkout`;
const TAGS = '/api/admin/features/checkout/tags';
const STRATEGIES = `${FLAG}/environments/production/strategies`;

let app: Express;
let flags: Flags;
let strategy: string;

beforeEach(async () => {
  ({ app, flags } = await createHostApp());
  for (const name of ['checkout', 'parent', 'old']) await flags.createFlag(CHECKOUT, { name });
  ({ id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default' }));
  await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
  await flags.addDependency(CHECKOUT, { flag: 'parent' });
  await flags.archiveFlag({ ...CHECKOUT, flag: 'old' });
});

afterEach(() => flags.close());

type Method = 'post' | 'put' | 'patch' | 'delete';
type Sent = readonly [method: Method, path: string | (() => string), body?: object | undefined, flag?: string];

/** Every request that changes one flag. */
const CHANGES: readonly Sent[] = [
  ['post', FLAGS, { name: 'new' }, 'new'],
  ['put', FLAG, { name: 'checkout', description: 'New' }],
  ['patch', FLAG, [{ op: 'replace', path: '/description', value: 'New' }]],
  ['post', `${FLAG}/clone`, { name: 'copy' }, 'copy'],
  ['delete', FLAG],
  ['post', '/api/admin/archive/revive/old', undefined, 'old'],
  ['post', STRATEGIES, { name: 'default' }],
  ['put', () => `${STRATEGIES}/${strategy}`, { name: 'userWithId' }],
  ['patch', () => `${STRATEGIES}/${strategy}`, [{ op: 'replace', path: '/name', value: 'userWithId' }]],
  ['delete', () => `${STRATEGIES}/${strategy}`],
  ['post', `${FLAG}/environments/production/on`],
  ['post', `${FLAG}/environments/production/off`],
  ['put', `${FLAG}/variants`, [{ name: 'green' }]],
  ['patch', `${FLAG}/variants`, [{ op: 'replace', path: '/0/name', value: 'green' }]],
  ['post', `${FLAG}/dependencies`, { feature: 'parent', enabled: false }],
  ['delete', `${FLAG}/dependencies/parent`],
  ['delete', `${FLAG}/dependencies`],
  ['post', TAGS, { type: 'simple', value: 'shop' }],
  ['put', TAGS, { addedTags: [{ value: 'shop' }], removedTags: [] }],
  ['delete', `${TAGS}/simple/shop`],
  ['post', '/api/admin/changes', { changes: [{ op: 'enable', ref: PRODUCTION }] }],
];

it.each(CHANGES.map((sent) => [titleOf(sent), sent] as const))(
  'answers %s with the ETag that a GET of the flag gives',
  async (_, [method, path, body, flag = 'checkout']) => {
    const sent = request(app)[method](typeof path === 'function' ? path() : path);
    const { headers, status } = await (body === undefined ? sent : sent.send(body));
    expect(status).toBeLessThan(300);
    const shown = await request(app).get(`${FLAGS}/${flag}`).expect(200);
    expect(shown.headers.etag).toMatch(/^"[1-9]\d*-[0-9a-f]+"$/);
    expect(headers.etag).toBe(shown.headers.etag);
  },
);

function titleOf([method, path]: Sent): string {
  return `${method} ${typeof path === 'string' ? path : `${STRATEGIES}/:strategyId`}`;
}

it('returns the ETag of the flag after the undo of a change of one flag', async () => {
  const { id } = await flags.apply([{ op: 'enable', ref: PRODUCTION }]);
  const { headers } = await request(app).post(`/api/admin/changes/${id}/undo`).expect(200);
  expect(headers.etag).toBe((await request(app).get(FLAG)).headers.etag);
});

it('accepts the ETag of each reply as the If-Match of the next change', async () => {
  let tag = (await request(app).get(FLAG)).headers.etag ?? '';
  const steps = [
    () => request(app).post(STRATEGIES).send({ name: 'default' }),
    () => request(app).post(`${FLAG}/environments/production/on`),
    () =>
      request(app)
        .put(`${FLAG}/variants`)
        .send([{ name: 'green' }]),
    () => request(app).delete(`${FLAG}/dependencies`),
    () => request(app).put(FLAG).send({ name: 'checkout', stale: true }),
  ];
  for (const step of steps) {
    const { headers, status } = await step().set('If-Match', tag);
    expect(status).toBe(200);
    expect(headers.etag).not.toBe(tag);
    await step().set('If-Match', tag).expect(412);
    tag = headers.etag ?? '';
  }
});

it.each([
  ['that deletes the flag', [{ op: 'deleteFlag', ref: { flag: 'old' } }]],
  [
    'of two flags',
    ['checkout', 'parent'].map((flag) => ({ op: 'updateFlag', ref: { ...CHECKOUT, flag }, input: { stale: true } })),
  ],
  ['of a project', [{ op: 'updateProject', ref: { project: 'default' }, input: { name: 'Ours' } }]],
  ['that changes nothing', [{ op: 'disable', ref: PRODUCTION }]],
])('answers a set %s without an ETag', async (_, changes) => {
  const { headers } = await request(app).post('/api/admin/changes').send({ changes }).expect(200);
  expect(headers).not.toHaveProperty('etag');
});

it('returns the ETag of the new path after a set that moves a flag', async () => {
  await flags.createProject({ id: 'shop', name: 'Shop' });
  await flags.removeDependencies(CHECKOUT);
  const change = { op: 'moveFlag', ref: CHECKOUT, input: { project: 'shop' } };
  const { headers } = await request(app)
    .post('/api/admin/changes')
    .send({ changes: [change] })
    .expect(200);
  expect(headers.etag).toBe((await request(app).get('/api/admin/projects/shop/features/checkout')).headers.etag);
});
