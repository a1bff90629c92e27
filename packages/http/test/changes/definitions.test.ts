import type { DefinedFlag, Definitions, Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../../express/src/index.js';
import { createHostApp } from '../host-app.js';

type Rule = (action: Action, project: string | null) => boolean;

let app: Express;
let flags: Flags;
let rule: Rule;

beforeEach(async () => {
  rule = () => true;
  ({ app, flags } = await createHostApp({
    router: { auth: () => ({ name: 'Ada' }), authorize: (_actor, action, project) => rule(action, project) },
  }));
  for (const id of ['mine', 'other']) await flags.createProject({ id, name: id });
  await flags.createFlag({ project: 'mine' }, { name: 'checkout' });
  await flags.createFlag({ project: 'other' }, { name: 'hidden', description: 'secret' });
  await flags.createSegment({ name: 'everywhere', constraints: [] });
  await flags.createSegment({ name: 'theirs', constraints: [], project: 'other' });
});

const onlyMine: Rule = (_action, project) => project === 'mine';

function importing(definitions: Omit<Definitions, 'version'>, rest = {}) {
  return request(app)
    .post('/api/admin/import')
    .send({ definitions: { version: 1, ...definitions }, ...rest });
}

const checkout = (rest: Partial<DefinedFlag>): Omit<Definitions, 'version'> => ({
  flags: [{ name: 'checkout', project: 'mine', ...rest }],
});

it('exports the projects of the caller only', async () => {
  rule = onlyMine;
  const { body } = await request(app).get('/api/admin/export').expect(200);
  expect(body).toMatchObject({ projects: [{ id: 'mine' }], segments: [], flags: [{ name: 'checkout' }] });
  await request(app).get('/api/admin/export?project=other').expect(403);
  rule = () => false;
  await request(app).get('/api/admin/export').expect(403);
});

it('imports into the projects of the caller only', async () => {
  rule = onlyMine;
  await importing(checkout({ stale: true })).expect(200);
  const refused: readonly Omit<Definitions, 'version'>[] = [
    { flags: [{ name: 'new', project: 'other' }] },
    { flags: [{ name: 'hidden', stale: true }] },
    { flags: [{ name: 'hidden', project: 'mine' }] },
    { ...checkout({}), segments: [{ name: 'theirs', project: 'mine' }] },
    { ...checkout({}), segments: [{ name: 'everywhere', description: 'Changed' }] },
    { ...checkout({}), projects: [{ id: 'tools' }] },
    { segments: [], flags: [] },
  ];
  for (const definitions of refused) {
    for (const dryRun of [true, false]) {
      const { status, text } = await importing(definitions, { dryRun });
      expect([status, text.includes('secret')]).toEqual([403, false]);
    }
  }
  expect(await flags.getFlag({ project: 'other', flag: 'hidden' })).toMatchObject({ revision: 1 });
});

it.each<[Action, Partial<DefinedFlag>]>([
  ['updateFlag', { stale: true }],
  ['archiveFlag', { archived: true }],
  ['setVariants', { variants: [{ name: 'red' }] }],
  ['addStrategy', { environments: { production: { strategies: [{ name: 'default' }] } } }],
  ['enable', { environments: { production: { enabled: true, strategies: [{ name: 'default' }] } } }],
  ['useSegment', { environments: { production: { strategies: [{ name: 'default', segments: ['everywhere'] }] } } }],
])('asks for %s, of an existing flag and of a new one', async (refused, rest) => {
  rule = (action) => action !== refused;
  await importing(checkout(rest)).expect(403);
  await importing(checkout({ ...rest, name: 'new' })).expect(403);
  await importing(checkout(rest), { dryRun: true }).expect(refused === 'useSegment' ? 403 : 200);
  rule = () => true;
  await importing(checkout({ ...rest, name: 'new' })).expect(200);
});

it('does not need a permission in a project that it creates', async () => {
  rule = (_action, project) => project === null;
  await importing({ projects: [{ id: 'tools' }], flags: [{ name: 'drill', project: 'tools' }] }).expect(200);
  rule = (action, project) => project === null && action !== 'createProject';
  await importing({ projects: [{ id: 'garden' }] }).expect(403);
});
