import { createFlags, type Flags, LIMITS, memoryStorage } from '@flags/core';
import { BUILT_IN_STRATEGIES } from '@flags/core/integration';
import express, { type Request } from 'express';
import request from 'supertest';
import { createFlagsRouter, type FlagsRouterOptions } from '../../../express/src/index.js';
import { CHANGE_OPERATIONS } from '../../src/changes/permissions.js';
import { VERSION } from '../../src/routes/session.js';
import { read } from '../docs/documents.js';
import { createHostApp } from '../host-app.js';

const SESSION = '/api/admin/session';
const session = (req: Request) => (req.get('x-user') ? { name: req.get('x-user') as string } : null);
const OUTSIDE = (auth: string) => ({ version: VERSION, auth });

let flags: Flags;
let secrets: Readonly<Record<'admin' | 'client' | 'frontend', string>>;

beforeEach(async () => {
  flags = await createFlags({ storage: memoryStorage() });
  const secretOf = async (kind: 'admin' | 'client' | 'frontend') => {
    const environment = kind === 'admin' ? {} : { environment: 'production' };
    return (await flags.createToken({ name: kind, kind, ...environment })).secret;
  };
  secrets = { admin: await secretOf('admin'), client: await secretOf('client'), frontend: await secretOf('frontend') };
});

afterEach(() => flags.close());

async function ask(options: FlagsRouterOptions, headers: Readonly<Record<string, string>> = {}, path = SESSION) {
  const app = express().use(createFlagsRouter(flags, options));
  return (await request(app).get(path).set(headers).expect(200)).body;
}

describe('the session', () => {
  it('has the version of the package', () => {
    expect(VERSION).toBe(JSON.parse(read('packages/http/package.json')).version);
  });

  it('tells callers without access only how to sign in', async () => {
    expect(await ask({ auth: 'token' })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: '*:*.unknown' })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: secrets.client })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: secrets.frontend })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: session })).toEqual(OUTSIDE('host'));
    const both = { auth: { session, tokens: true } } as never;
    expect(await ask(both)).toEqual(OUTSIDE('session'));
    expect(await ask(both, { authorization: secrets.client, 'x-user': 'ada' })).toEqual(OUTSIDE('session'));
  });

  it('tells the actor in every mode', async () => {
    expect(await ask({ auth: 'none' })).toMatchObject({ auth: 'none', actor: 'anonymous' });
    expect(await ask({ auth: 'token' }, { authorization: secrets.admin })).toMatchObject({ actor: 'admin' });
    expect(await ask({ auth: session }, { 'x-user': 'ada' })).toMatchObject({ auth: 'host', actor: 'ada' });
    const both = { auth: { session, tokens: true } } as never;
    expect(await ask(both, { 'x-user': 'ada' })).toMatchObject({ auth: 'session', actor: 'ada' });
    expect(await ask(both, { authorization: `Bearer ${secrets.admin}` })).toMatchObject({ actor: 'admin' });
  });

  it('describes each built-in strategy', async () => {
    const { strategies } = await ask({ auth: 'none' });
    expect(strategies).toEqual(BUILT_IN_STRATEGIES);
    const rollout = BUILT_IN_STRATEGIES.find(({ name }) => name === 'flexibleRollout');
    expect(rollout?.parameters.map(({ name }) => name)).toEqual(['rollout', 'stickiness', 'groupId']);
  });

  it('lists the actions that authorize allows in the project, and checks actions of the instance without a project', async () => {
    const authorize = (_: object, action: string, project: string | null) =>
      project === 'mine' && /^(get|list)/.test(action);
    const options = { auth: () => ({ name: 'Ada' }), authorize };
    expect(await ask(options)).not.toHaveProperty('actions');
    const { actions } = await ask(options, {}, `${SESSION}?project=mine`);
    expect(actions).toEqual(expect.arrayContaining(['getFlag', 'listFlags', 'listEvents', 'listMembers']));
    expect(actions).not.toContain('createFlag');
    expect(actions).not.toContain('listTokens');
    expect(actions).not.toContain('listClientFlags');
    expect(new Set(actions).size).toBe(actions.length);
    expect((await ask(options, {}, `${SESSION}?project=other`)).actions).toEqual([]);
  });

  it('lists every action except its own without authorize', async () => {
    const { actions } = await ask({ auth: 'none' }, {}, `${SESSION}?project=default`);
    expect(actions).toEqual(expect.arrayContaining(['createProject', 'useSegment', 'enable', 'getOpenApi']));
    expect(actions).toEqual(expect.arrayContaining([...CHANGE_OPERATIONS]));
    expect(actions).not.toContain('getSession');
    expect(actions).not.toContain('streamEvents');
  });

  it('refuses a project id that is too long', async () => {
    const { app } = await createHostApp();
    await request(app)
      .get(`${SESSION}?project=${'x'.repeat(LIMITS.name + 1)}`)
      .expect(400);
  });

  it('leaves errors of the host to the host', async () => {
    const fault = new Error('no database');
    const auth = () => Promise.reject(fault);
    const { app, faults } = await createHostApp({ router: { auth } });
    await request(app).get(SESSION).expect(500);
    const authorize = () => Promise.reject(fault);
    const other = await createHostApp({ router: { auth: () => ({ name: 'Ada' }), authorize } });
    await request(other.app).get(`${SESSION}?project=default`).expect(500);
    expect([...faults, ...other.faults]).toEqual([fault, fault]);
  });

  it('keeps pages of other names out of a server without authentication', async () => {
    const { app } = await createHostApp();
    await request(app).get(SESSION).set('host', 'evil.example.org').expect(403);
  });
});
