import { ADMIN_SECRET } from '../contract-host.js';
import { inOrder, type Row, type Step } from '../row.js';
import { CHECKOUT, checkout, PRODUCTION } from '../states.js';

const FLAGS = '/ofrep/v1/evaluate/flags';
const STREAM = '/ofrep/v1/event-stream';
/** Where a browser hears of changes, with a ticket of the token in the place of its secret. */
const EVENT_STREAMS = [
  {
    type: 'sse',
    endpoint: { requestUri: expect.stringMatching(/^\/ofrep\/v1\/event-stream\?key=[\w-]+\.[\w-]{43}$/) },
    inactivityDelaySec: 30,
  },
];

/** On for user 7 only, with one variant. */
const onForSeven: Step = inOrder(
  checkout,
  (flags) => flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '7' } }),
  (flags) => flags.enable(PRODUCTION),
  (flags) => flags.setVariants(CHECKOUT, [{ name: 'limited', payload: { type: 'number', value: '60' } }]),
);

const METADATA = {
  project: 'default',
  type: 'release',
  enabled: true,
  stale: false,
  impressionData: false,
  flagSetId: 'default/production',
  // The same configuration has the same version everywhere, also in later releases.
  version: '58671542a249',
};
const LIMITED = { key: 'checkout', value: 60, reason: 'TARGETING_MATCH', variant: 'limited', metadata: METADATA };
/** The caller's default applies, because the variant has a payload. */
const OFF = { key: 'checkout', reason: 'UNKNOWN', metadata: { ...METADATA, enabled: false } };

export const ofrepRows: readonly Row[] = [
  {
    endpoint: 'resolveFlag',
    name: "answers the value of the context's variant",
    given: onForSeven,
    request: { method: 'POST', path: `${FLAGS}/checkout`, body: { context: { targetingKey: '7', plan: 'pro' } } },
    expect: { status: 200, unchanged: true, body: LIMITED },
  },
  {
    endpoint: 'resolveFlag',
    name: 'needs no context',
    given: onForSeven,
    request: { method: 'POST', path: `${FLAGS}/checkout`, body: {} },
    expect: { status: 200, unchanged: true, body: OFF },
  },
  {
    endpoint: 'resolveFlag',
    name: 'does not know an archived flag',
    given: inOrder(onForSeven, (flags) => flags.archiveFlag(CHECKOUT)),
    request: { method: 'POST', path: `${FLAGS}/checkout`, body: {} },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'resolveFlag',
    name: 'refuses an invalid context',
    given: onForSeven,
    request: { method: 'POST', path: `${FLAGS}/checkout`, body: { context: 'user 7' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'resolveFlags',
    name: 'answers all flags, for the context',
    given: onForSeven,
    request: { method: 'POST', path: FLAGS, body: { context: { targetingKey: '7' } } },
    expect: {
      status: 200,
      unchanged: true,
      body: { flags: [LIMITED], eventStreams: EVENT_STREAMS },
      headers: { etag: '"' },
    },
  },
  {
    endpoint: 'resolveFlags',
    name: 'needs no context',
    given: onForSeven,
    request: { method: 'POST', path: FLAGS, body: {} },
    expect: { status: 200, unchanged: true, body: { flags: [OFF], eventStreams: EVENT_STREAMS } },
  },
  ...(['resolveFlag', 'resolveFlags'] as const).flatMap((endpoint): Row[] => {
    const path = endpoint === 'resolveFlag' ? `${FLAGS}/checkout` : FLAGS;
    const refused = { status: 400, code: 'invalid_input' } as const;
    return [
      {
        endpoint,
        name: 'refuses an empty body',
        given: onForSeven,
        request: { method: 'POST', path },
        expect: refused,
      },
      ...[7, null, {}, ['7'], true].map(
        (targetingKey): Row => ({
          endpoint,
          name: `refuses the targeting key ${JSON.stringify(targetingKey)}`,
          given: onForSeven,
          request: { method: 'POST', path, body: { context: { targetingKey } } },
          expect: refused,
        }),
      ),
    ];
  }),
  {
    endpoint: 'resolveFlags',
    name: 'refuses an invalid context',
    request: { method: 'POST', path: FLAGS, body: { context: [] } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'streamRefetches',
    name: 'refuses a key that is not a ticket',
    request: { method: 'GET', path: `${STREAM}?key=invented`, headers: { authorization: undefined } },
    expect: { status: 401, code: 'unauthenticated' },
  },
  {
    endpoint: 'streamRefetches',
    name: 'refuses callers without a key and without a token',
    request: { method: 'GET', path: STREAM, headers: { authorization: undefined } },
    expect: { status: 401, code: 'unauthenticated' },
  },
  {
    endpoint: 'streamRefetches',
    name: 'refuses a token of another kind',
    // Followers do not know admin tokens.
    isForEngines: true,
    request: { method: 'GET', path: STREAM, headers: { authorization: ADMIN_SECRET } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    endpoint: 'streamRefetches',
    name: 'refuses several environments',
    request: { method: 'GET', path: `${STREAM}?environment=production&environment=development` },
    expect: { status: 400, code: 'invalid_input' },
  },
];
