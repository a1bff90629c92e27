import type { Flags } from '@flags/core';
import { headerRulesOf, permissionOf } from '../../../src/actions.js';
import { ID_HEADER, type Route } from '../../../src/api/route.js';
import { mayNeedApproval, type PossibleCode } from '../../../src/openapi/responses.js';
import { ROUTES } from '../../../src/routes.js';
import { USER_HEADER } from '../adapters.js';
import { ADMIN_SECRET, CLIENT_SECRET } from '../contract-host.js';
import { actionOf } from '../endpoints.js';
import { type Expectation, inOrder, type Row, type RowRequest, type Step } from '../row.js';
import { DEFAULT } from '../states.js';
import { WRITTEN_ROWS } from './all-rows.js';

const TAKEN = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a99';
const TOO_LARGE = `"${'x'.repeat(1024 * 1024)}"`;

/** The common refusals of every route with a gate, derived from a successful request. */
export const DERIVED_ROWS: readonly Row[] = ROUTES.filter(({ action }) => permissionOf(action)).flatMap((route) => {
  const sample = WRITTEN_ROWS.find(({ endpoint, expect }) => actionOf(endpoint) === route.action && !expect.code);
  return sample === undefined ? [] : refusalsOf(route, sample);
});

function refusalsOf(route: Route, sample: Row): readonly Row[] {
  const variation = (name: string, request: Partial<RowRequest>, expected: Expectation): Row => ({
    ...sample,
    endpoint: route.action,
    name,
    request: { ...sample.request, ...request, headers: { ...sample.request.headers, ...request.headers } },
    expect: expected,
  });
  return [
    variation('refuses callers without a token', authorizedBy(undefined), {
      status: 401,
      code: 'unauthenticated',
      headers: { 'www-authenticate': 'Bearer' },
    }),
    variation('lets nobody in with an unknown token', authorizedBy('Bearer *:*.unknown'), {
      status: 401,
      code: 'unauthenticated',
      headers: { 'www-authenticate': 'Bearer' },
    }),
    {
      ...variation('refuses a token of another kind', authorizedBy(otherToken(route)), {
        status: 403,
        code: 'forbidden',
      }),
      isForEngines: true,
    },
    ...(route.body === undefined ? [] : bodyRefusals(variation)),
    ...(route.ifMatch === undefined ? [] : [staleState(variation)]),
    ...(mayNeedApproval(route) && !isWritten(route, 'approval_required') ? [unapproved(route, sample, variation)] : []),
    ...(headerRulesOf(route).isRepeatable ? [takenId(route, sample, variation)] : []),
    ...(route.path.includes(':') ? [undecodablePath(route, sample, variation)] : []),
  ];
}

type Variation = (name: string, request: Partial<RowRequest>, expected: Expectation) => Row;

function bodyRefusals(variation: Variation): readonly Row[] {
  return [
    variation('refuses a body that is not JSON', { body: '{"a":' }, { status: 400, code: 'invalid_json' }),
    variation('refuses a body that is too large', { body: TOO_LARGE }, { status: 413, code: 'payload_too_large' }),
    variation(
      'refuses a body of another type',
      { body: 'name=checkout', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { status: 415, code: 'unsupported_media_type' },
    ),
  ];
}

function staleState(variation: Variation): Row {
  return variation('refuses an If-Match that does not hold', withHeader('if-match', '"999999-0", "none"'), {
    status: 412,
    code: 'revision_mismatch',
  });
}

function isWritten({ action }: Route, code: PossibleCode): boolean {
  return WRITTEN_ROWS.some(({ endpoint, expect }) => actionOf(endpoint) === action && expect.code === code);
}

/** Clients of every environment would see the change. */
function unapproved({ action }: Route, { given }: Row, variation: Variation): Row {
  const refused = variation('refuses a change that needs approval', {}, { status: 409, code: 'approval_required' });
  const visible: Step = (flags) => makeVisible(flags, action !== 'enable');
  return { ...refused, given: inOrder(...(given ? [given] : []), visible, protectEverything) };
}

/** Lets every flag use every segment, and switches it on. */
async function makeVisible(flags: Flags, isOn: boolean): Promise<void> {
  const segments = (await flags.segments.list()).items.map(({ id }) => id);
  for (const { name: flag } of (await flags.getProject(DEFAULT)).flags) {
    for (const { name: environment } of flags.settings.environments) {
      const ref = { ...DEFAULT, flag, environment };
      await flags.addStrategy(ref, { name: 'default', segments });
      if (isOn) await flags.enable(ref);
    }
  }
}

async function protectEverything(flags: Flags): Promise<void> {
  const environments = flags.settings.environments.map(({ name }) => [name, { required: 1 }] as const);
  await flags.approvalPolicy.set({ environments: Object.fromEntries(environments) });
}

function takenId({ action }: Route, { given, request: { body } }: Row, variation: Variation): Row {
  const { id: named } = Object(body) as { readonly id?: unknown };
  // The body of a change set may have the id too, and then it is the same. Other documents have ids of their own.
  const id = typeof named === 'string' && /^[\da-f-]{36}$/.test(named) ? named : TAKEN;
  const refused = variation('refuses an id that another change has', withHeader(ID_HEADER, id), {
    status: 409,
    code: 'id_taken',
  });
  const taken: Step = (flags) =>
    action === 'createChangeRequest'
      ? flags.changeRequests.create([{ op: 'createFlag', ref: DEFAULT, input: { name: 'taken' } }], { id })
      : flags.createFlag(DEFAULT, { name: 'taken' }, { id });
  return { ...refused, given: given ? inOrder(given, taken) : taken };
}

function undecodablePath({ path }: Route, { request }: Row, variation: Variation): Row {
  const position = path.split('/').findIndex((part) => part.startsWith(':'));
  const parts = request.path.split('/').map((part, index) => (index === position ? '%zz' : part));
  return variation(
    'refuses a path that cannot be decoded',
    { path: parts.join('/') },
    { status: 400, code: 'invalid_input' },
  );
}

/** Without the user of rows of people. */
function authorizedBy(authorization: string | undefined): Partial<RowRequest> {
  return { headers: { authorization, [USER_HEADER]: undefined } };
}

function withHeader(name: string, value: string | undefined): Partial<RowRequest> {
  return { headers: { [name]: value } };
}

function otherToken({ access }: Route): string {
  return access === 'admin' ? CLIENT_SECRET : ADMIN_SECRET;
}
