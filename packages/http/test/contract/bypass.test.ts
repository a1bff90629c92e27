import { MEMORY } from '../../../core/test/storage-kinds.js';
import { headerRulesOf } from '../../src/actions.js';
import { toFetchHandler } from '../../src/adapters/fetch.js';
import type { Method } from '../../src/api/route.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import { ADMIN_ROUTES } from '../../src/routes.js';
import { type Adapter, USER_HEADER } from './adapters.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import { everythingIn } from './everything.js';
import type { Row } from './row.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { send } from './send.js';

/** Grace may do everything; Eve may bypass in one project only, which no row has. */
const PEOPLE: Adapter = {
  title: 'the Fetch API, for people',
  async mount(flags) {
    const api = createFlagsApi(flags, {
      auth: ({ headers }: Request) => ({ name: headers.get(USER_HEADER) ?? 'Grace' }),
      authorize: ({ name }, action, project) => name !== 'Eve' || action !== 'bypassApproval' || project === 'own',
    });
    return { app: toFetchHandler(api, { ip: () => '127.0.0.1' }), faults: [] };
  },
};

const POLICY = { environments: { production: { required: 1 }, development: { required: 1 } } };

/** A row that changes something, for every route where there is one. */
const ROWS = ADMIN_ROUTES.flatMap((route) => {
  const rows = WRITTEN_ROWS.filter(({ endpoint, expect }) => actionOf(endpoint) === route.action && !expect.code);
  const row = rows.find(({ expect }) => !expect.unchanged) ?? rows[0];
  // An event stream does not end.
  return row && route.form?.media === undefined ? [[route.action, route, row] as const] : [];
});
const BYPASSING = ROWS.filter(([, route]) => headerRulesOf(route).takesBypass);
const OTHERS = ROWS.filter(([, route]) => !headerRulesOf(route).takesBypass);

describe('the header X-Bypass-Approval', () => {
  let host: ContractHost;
  afterEach(() => host?.stop());

  async function start({ given }: Row): Promise<void> {
    host = await startContractHost(PEOPLE, MEMORY);
    await given?.(host.flags);
  }

  function sendAs(user: string, { request }: Row, reason?: string) {
    const bypass = reason === undefined ? {} : { 'x-bypass-approval': reason };
    return send(host.app, {
      ...request,
      headers: { ...request.headers, ...bypass, authorization: undefined, [USER_HEADER]: user },
    });
  }

  it('is taken by every route that writes flags, segments or projects', () => {
    const refusing = OTHERS.filter(([, { method, access }]) => method !== 'GET' && access === 'admin');
    expect(refusing.map(([action]) => action).toSorted()).toEqual(
      [
        ...['createToken', 'rotateToken', 'updateToken', 'deleteToken'],
        ...['addMember', 'changeMemberRole', 'removeMember'],
        ...['create', 'approve', 'reject', 'withdraw', 'apply'].map((what) => `${what}ChangeRequest`),
        ...['deleteApplication', 'deleteNamedApplication', 'resetConsumer', 'deleteConsumer'],
        ...['planChanges', 'previewChanges', 'planUndo', 'previewUndo', 'explainFlags', 'searchEvents'],
        ...['validateFlagName', 'validateSegmentName', 'validateConstraint'],
      ].toSorted(),
    );
  });

  it.each(BYPASSING)('asks for the permission, which no row of %s can leave out', async (_action, route, row) => {
    await start(row);
    const before = await everythingIn(host.flags);
    const response = await sendAs('Eve', row, 'INC-42');
    expect([response.status, response.body.code]).toEqual([403, 'forbidden']);
    expect(await everythingIn(host.flags)).toEqual(before);
    documentedCheckOf(host.flags)({ ...row.request, response });
    // It asks for nothing without the header.
    expect((await sendAs('Eve', row)).status).toBe(route.status);
  });

  it.each(BYPASSING)('has no other effect on %s if no approval is missing', async (_action, route, row) => {
    await start(row);
    if (Object.keys((await host.flags.approvalPolicy.get()).environments).length > 0) return;
    const { items } = await host.flags.events.list({ limit: 1 });
    expect((await sendAs('Grace', row, 'INC-42')).status).toBe(route.status);
    const after = items[0]?.position;
    const made = (await host.flags.events.list({ limit: 100 })).items;
    const isOld = made.findIndex(({ position }) => position === after);
    for (const { origin, reason } of made.slice(0, isOld)) {
      expect(origin).not.toBe('bypass');
      expect(reason ?? '').not.toContain('INC-42');
    }
  });

  it.each(BYPASSING)('is the origin of what %s does without the approval', async (_action, route, row) => {
    await start(row);
    await host.flags.approvalPolicy.set(POLICY);
    const last = async () => (await host.flags.events.list({ limit: 1 })).items[0];
    const before = await last();
    const refused = await sendAs('Grace', row);
    const isMissing = refused.body?.code === 'approval_required';
    expect(refused.status).toBe(isMissing ? 409 : route.status);
    if (!isMissing) return;
    expect((await last())?.position).toBe(before?.position);
    expect((await sendAs('Grace', row, 'INC-42')).status).toBe(route.status);
    expect(await last()).toMatchObject({ origin: 'bypass', reason: expect.stringMatching(/INC-42$/) });
  });

  it.each(OTHERS)('is refused by %s, which no approval can concern', async (_action, _route, row) => {
    await start(row);
    const before = await everythingIn(host.flags);
    for (let time = 0; time < 2; time++) {
      const response = await sendAs('Grace', row, 'INC-42');
      expect([response.status, Array.isArray(response.body) || response.body.code]).toEqual([
        400,
        Array.isArray(response.body) || 'invalid_input',
      ]);
    }
    expect(await everythingIn(host.flags)).toEqual(before);
  });

  describe('in several projects', () => {
    const OWN = { project: 'own', flag: 'own' };
    const OTHER = { project: 'other', flag: 'other' };
    const stale = (ref: typeof OWN) => ({ op: 'updateFlag', ref, input: { stale: true } });
    const changes = (...list: readonly object[]) => ({ path: '/api/admin/changes', body: { changes: list } });
    const inSegment = { name: 'vip', constraints: [] };

    beforeEach(async () => {
      host = await startContractHost(PEOPLE, MEMORY);
      for (const { project, flag } of [OWN, OTHER]) {
        await host.flags.createProject({ id: project, name: project });
        await host.flags.createFlag({ project }, { name: flag });
      }
      await host.flags.segments.create({ ...inSegment, project: 'own' });
    });

    it.each<[string, number, { readonly path: string; readonly body: unknown; readonly method?: Method }]>([
      ['changes in the own one', 200, changes(stale(OWN))],
      ['changes in both', 403, changes(stale(OWN), stale(OTHER))],
      ['a flag that moves away', 403, changes({ op: 'moveFlag', ref: OWN, input: { project: 'other' } })],
      ['a flag that moves here', 403, changes({ op: 'moveFlag', ref: OTHER, input: { project: 'own' } })],
      [
        'a segment of the own one',
        201,
        { path: '/api/admin/segments', body: { name: 'new', constraints: [], project: 'own' } },
      ],
      ['a segment of the instance', 403, { path: '/api/admin/segments', body: { name: 'new', constraints: [] } }],
      [
        'a segment that moves away',
        403,
        { method: 'PUT', path: '/api/admin/segments/1', body: { ...inSegment, project: null } },
      ],
      ['a new project', 403, changes({ op: 'createProject', input: { id: 'new', name: 'New' } })],
      [
        'an import',
        403,
        { path: '/api/admin/import', body: { definitions: { version: 1, flags: [{ name: 'x', project: 'other' }] } } },
      ],
      [
        'an import into the own one',
        200,
        { path: '/api/admin/import', body: { definitions: { version: 1, flags: [{ name: 'x', project: 'own' }] } } },
      ],
    ])('it asks in each of them: %s', async (_what, status, { method = 'POST', path, body }) => {
      const before = await everythingIn(host.flags);
      const headers = { 'x-bypass-approval': 'INC-42', authorization: undefined, [USER_HEADER]: 'Eve' };
      const response = await send(host.app, { method, path, body, headers });
      expect([response.status, response.text]).toEqual([status, expect.anything()]);
      if (status === 403) expect(await everythingIn(host.flags)).toEqual(before);
    });
  });
});
