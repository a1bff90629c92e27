import { possibleErrors } from '../../src/openapi/responses.js';
import { ROUTES } from '../../src/routes.js';
import { actionOf, ENDPOINTS, type EndpointNumber } from './endpoints.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { DERIVED_ROWS } from './rows/derived.js';

const ROWS = [...WRITTEN_ROWS, ...DERIVED_ROWS];

/** Why no row of the table causes these errors. */
const ELSEWHERE = new Map<string, string>([
  ['document_too_large', 'needs a large document: limits.test.ts of the engine makes one of every kind'],
  ['change_set_too_large', 'needs more than 8 MiB of events: change-sets.test.ts of the engine writes them'],
  ['closed', 'closing leaves nothing to compare with: contract.test.ts asks every route'],
  ['storage_busy', 'needs another process that holds the file: the tests of the SQLite storage have one'],
  ['storage_unavailable', 'needs a storage that is away: the tests of faults take one away'],
  ['outcome_unknown', 'needs a database that dies in the middle of a commit: the tests of @flags/postgres kill one'],
  ['too_much_contention', 'needs writers that win every race: the tests of the engine have them'],
  [
    'due_disabled',
    'needs the option due.run: false: change-requests.test.ts and rollouts.test.ts of the HTTP API have it',
  ],
  ['overloaded', 'needs several requests at once: gate.test.ts of the HTTP API has them'],
]);

/** A token names its environment: only without tokens can a client name one that does not exist. */
const UNSCOPED = [
  'listClientFlags',
  'getClientFlag',
  'streamClientFlags',
  'evaluateFlags',
  'evaluateFlagsForContext',
  'resolveFlag',
  'resolveFlags',
  'streamRefetches',
];

/** What was there when it was requested, and is missing now: only an engine with other options does not know it. */
const OF_OTHER_OPTIONS = ['environment_not_found', 'role_not_found', 'user_not_found'];

/** Their responses do not end: the tests of streaming cover them. */
const ENDLESS: readonly string[] = ['streamClientFlags', 'streamRefetches', 'streamEvents'];

const NUMBERS = Object.keys(ENDPOINTS).map((number) => Number(number) as EndpointNumber);

describe('the table', () => {
  it('has the 25 endpoints of the contract', () => {
    expect(NUMBERS).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  it.each(NUMBERS)('has endpoint %i as a route, with a successful row', (number) => {
    const [method, path, action] = ENDPOINTS[number];
    expect(ROUTES).toContainEqual(expect.objectContaining({ method, path, action }));
    expect(WRITTEN_ROWS).toContainEqual(expect.objectContaining({ endpoint: number, expect: succeeding() }));
  });

  it.each(ROUTES.filter(({ action }) => !ENDLESS.includes(action)).map((route) => [route.action, route] as const))(
    'has a successful row for %s, with the documented status',
    (action, route) => {
      const successes = WRITTEN_ROWS.filter(({ endpoint, expect }) => actionOf(endpoint) === action && !expect.code);
      expect(successes.length).toBeGreaterThan(0);
      for (const { expect: expected } of successes) expect(expected.status).toBe(route.status);
    },
  );

  it.each(ROUTES.map((route) => [route.action, route] as const))('has a row for every error of %s', (action, route) => {
    const documented = [...possibleErrors(route, 'token').values()].flat();
    const brought = ROWS.filter(({ endpoint }) => actionOf(endpoint) === action).map(({ expect }) => expect.code);
    const unscoped = UNSCOPED.includes(action) ? ['environment_not_found'] : [];
    const ofOptions = ['approveChangeRequest', 'applyChangeRequest'].includes(action) ? OF_OTHER_OPTIONS : [];
    const missing = documented.filter(
      (code) => ![...brought, ...unscoped, ...ofOptions].includes(code) && !ELSEWHERE.has(code),
    );
    expect(missing).toEqual([]);
  });

  it.each(ROWS.map((row) => [`${actionOf(row.endpoint)} ${row.name}`, row] as const))(
    'requests the endpoint that it names: %s',
    (_, { endpoint, request }) => {
      const route = ROUTES.find(({ action }) => action === actionOf(endpoint));
      const pattern = new RegExp(`^${route?.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}(?:\\?|$)`);
      expect(request.path).toMatch(pattern);
      expect(request.method).toBe(route?.method);
    },
  );
});

function succeeding(): unknown {
  return expect.not.objectContaining({ code: expect.anything() });
}
