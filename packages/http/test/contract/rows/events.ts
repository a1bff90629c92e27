import { VERSION } from '../../../src/features/environments/session.js';
import { CLIENT_SECRET } from '../contract-host.js';
import type { Row } from '../row.js';
import { CHECKOUT, checkout, enabled, NOW, strategyId } from '../states.js';

const EVENTS = '/api/admin/events';
const EXPORT = '/api/admin/event-export';

function typesOf(...types: readonly string[]): unknown {
  return expect.objectContaining({ events: types.map((type) => expect.objectContaining({ type })) });
}

function faulty(query: string): Row[] {
  return (
    [
      ['listEvents', EVENTS],
      ['listFlagEvents', `${EVENTS}/checkout`],
    ] as const
  ).map(([endpoint, path]) => ({
    endpoint,
    name: `refuses ${query}`,
    request: { method: 'GET', path: `${path}?${query}` },
    expect: { status: 400, code: 'invalid_input' },
  }));
}

export const eventRows: readonly Row[] = [
  {
    endpoint: 'listEvents',
    name: 'shows the events, newest first',
    given: enabled,
    request: { method: 'GET', path: `${EVENTS}?limit=3` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        events: [
          {
            id: expect.any(Number),
            type: 'feature-environment-enabled',
            createdAt: NOW,
            createdBy: 'system',
            createdByTokenId: null,
            createdByTokenType: null,
            origin: null,
            project: 'default',
            featureName: 'checkout',
            environment: 'production',
            data: expect.anything(),
            preData: expect.anything(),
            changeSet: expect.any(String),
            reason: null,
          },
          expect.objectContaining({
            type: 'feature-strategy-add',
            environment: 'production',
            data: expect.objectContaining({ id: strategyId(1) }),
            preData: null,
          }),
          expect.objectContaining({
            type: 'feature-created',
            featureName: 'checkout',
            environment: null,
            preData: null,
          }),
        ],
        totalEvents: expect.any(Number),
      },
    },
  },
  {
    endpoint: 'listEvents',
    name: 'filters by type and project, and pages',
    given: (flags) => checkout(flags).then(() => flags.updateFlag(CHECKOUT, { stale: true })),
    request: {
      method: 'GET',
      path: `${EVENTS}?project=default&type=feature-created&limit=1&offset=0&from=${NOW}&to=${NOW}`,
    },
    expect: { status: 200, body: expect.objectContaining({ totalEvents: 1 }) },
  },
  {
    endpoint: 'listEvents',
    name: 'uses the event types of the contract for projects',
    given: (flags) => flags.addMember({ project: 'default' }, { userId: 1, roleId: 4 }),
    request: { method: 'GET', path: `${EVENTS}?limit=1` },
    expect: { status: 200, body: typesOf('project-user-added') },
  },
  {
    endpoint: 'listFlagEvents',
    name: 'shows the events of one flag',
    given: enabled,
    request: { method: 'GET', path: `${EVENTS}/checkout` },
    expect: {
      status: 200,
      unchanged: true,
      body: typesOf('feature-environment-enabled', 'feature-strategy-add', 'feature-created'),
    },
  },
  {
    endpoint: 'listFlagEvents',
    name: 'shows nothing of an unknown flag',
    given: checkout,
    request: { method: 'GET', path: `${EVENTS}/constructor` },
    expect: { status: 200, body: { version: 1, events: [], totalEvents: 0 } },
  },
  ...faulty('limit=many'),
  ...faulty('limit=-1'),
  ...faulty('type=other'),
  ...faulty('from=yesterday'),
  {
    endpoint: 'exportEvents',
    name: 'writes JSON Lines, newest first',
    given: enabled,
    request: {
      method: 'GET',
      path: `${EXPORT}?feature=checkout&type=feature-created&from=${NOW}&to=${NOW}&project=default`,
    },
    expect: {
      status: 200,
      unchanged: true,
      headers: { 'content-type': 'application/jsonl', 'content-disposition': 'attachment; filename="events.jsonl"' },
    },
  },
  {
    endpoint: 'exportEvents',
    name: 'writes CSV, and only events of an actor',
    given: enabled,
    request: { method: 'GET', path: `${EXPORT}?format=csv&createdBy=nobody` },
    expect: {
      status: 200,
      unchanged: true,
      headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="events.csv"' },
    },
  },
  {
    endpoint: 'exportEvents',
    name: 'refuses another format',
    request: { method: 'GET', path: `${EXPORT}?format=xml` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'exportEvents',
    name: 'refuses callers without a token',
    request: { method: 'GET', path: EXPORT, headers: { authorization: undefined } },
    expect: { status: 401, code: 'unauthenticated' },
  },
  {
    endpoint: 'exportEvents',
    name: 'refuses a token of another kind',
    request: { method: 'GET', path: EXPORT, headers: { authorization: CLIENT_SECRET } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    endpoint: 'streamEvents',
    name: 'refuses a Last-Event-ID that is not a position',
    request: { method: 'GET', path: '/api/admin/event-stream', headers: { 'last-event-id': 'yesterday' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'streamEvents',
    name: 'refuses callers without a token',
    request: { method: 'GET', path: '/api/admin/event-stream', headers: { authorization: undefined } },
    expect: { status: 401, code: 'unauthenticated' },
  },
  {
    endpoint: 'streamEvents',
    name: 'refuses a token of another kind',
    request: { method: 'GET', path: '/api/admin/event-stream', headers: { authorization: CLIENT_SECRET } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    endpoint: 'getSession',
    name: 'shows an administrator the data of a page',
    request: { method: 'GET', path: '/api/admin/session' },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: VERSION,
        auth: 'session',
        actor: 'administrator',
        environments: [
          { name: 'development', displayName: 'Development' },
          { name: 'production', displayName: 'production' },
        ],
        environment: 'production',
        types: expect.arrayContaining([{ name: 'release', lifetimeDays: 40 }]),
        roles: [
          { id: 4, name: 'owner' },
          { id: 5, name: 'member' },
        ],
        strategies: expect.arrayContaining([{ name: 'default', description: 'On for everybody.', parameters: [] }]),
        acceptsTimes: true,
      },
    },
  },
  {
    endpoint: 'getSession',
    name: 'shows a caller without access only how to sign in',
    request: { method: 'GET', path: '/api/admin/session?project=default', headers: { authorization: undefined } },
    expect: { status: 200, unchanged: true, body: { version: VERSION, auth: 'session' } },
  },
  {
    endpoint: 'getSession',
    name: 'shows a client no more either',
    request: { method: 'GET', path: '/api/admin/session', headers: { authorization: CLIENT_SECRET } },
    expect: { status: 200, unchanged: true, body: { version: VERSION, auth: 'session' } },
  },
  {
    endpoint: 'getSession',
    name: 'lists the permitted actions of a project',
    request: { method: 'GET', path: '/api/admin/session?project=default' },
    expect: { status: 200, body: expect.objectContaining({ actions: expect.arrayContaining(['createFlag']) }) },
  },
  {
    endpoint: 'getSession',
    name: 'refuses an invalid project',
    request: { method: 'GET', path: '/api/admin/session?project=' },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'getOpenApi',
    name: 'shows this API as an OpenAPI document',
    request: { method: 'GET', path: '/api/admin/openapi.json' },
    expect: { status: 200, unchanged: true, body: expect.objectContaining({ openapi: '3.1.0' }) },
  },
];
