import type { Change } from '@flags/core';
import type { ActionName } from '../../../src/actions.js';
import type { PossibleCode } from '../../../src/openapi/responses.js';
import { ADMIN_SECRET } from '../contract-host.js';
import type { Row, Step } from '../row.js';
import { inOrder } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  DEFAULT,
  enabled,
  FLAG,
  NOW,
  owned,
  PRODUCTION,
  PROJECT,
  protecting,
  ROLLOUT,
  shop,
  staffed,
  strategyId,
  withStrategy,
} from '../states.js';

const CHANGES = '/api/admin/changes';
/** The id that a row gives to its change set. */
const ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a01';
const UNKNOWN_ID = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a99';

const ENABLE: Change = { op: 'enable', ref: PRODUCTION };
const QUESTION = { environment: 'production', contexts: [{ userId: '7' }, {}] };

const family: Step = inOrder(checkout, (flags) => flags.createFlag(DEFAULT, { name: 'payments' }));
const dependent = inOrder(family, (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }));
const dependentAndSearch = inOrder(dependent, (flags) => flags.createFlag(DEFAULT, { name: 'search' }));
const segment: Step = (flags) => flags.segments.create({ name: 'beta', constraints: [] });
const usedSegment = inOrder(checkout, segment, (flags) =>
  flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] }),
);
const PAYMENTS = { ...DEFAULT, flag: 'payments' };
const START = {
  op: 'startRollout',
  ref: { ...PRODUCTION, strategy: strategyId(1) },
  input: { steps: [{ percentage: 50 }] },
} as const;
const rolling = inOrder(enabled, (flags) => flags.rollouts.start(START.ref, START.input));

/** Every refusal that a change can meet: its status, a change, and the state. */
const REFUSALS: readonly (readonly [code: PossibleCode, status: number, change: unknown, given?: Step])[] = [
  ['invalid_input', 400, { op: 'explode' }],
  ['project_not_found', 404, { op: 'createFlag', ref: { project: 'moon' }, input: { name: 'x' } }],
  ['flag_not_found', 404, { op: 'archiveFlag', ref: CHECKOUT }],
  ['environment_not_found', 404, { op: 'enable', ref: { ...CHECKOUT, environment: 'moon' } }, checkout],
  ['strategy_not_found', 404, { op: 'removeStrategy', ref: { ...PRODUCTION, strategy: strategyId(9) } }, checkout],
  ['role_not_found', 404, { op: 'addMember', ref: DEFAULT, input: { userId: 1, roleId: 99 } }],
  ['user_not_found', 404, { op: 'addMember', ref: DEFAULT, input: { userId: 404, roleId: 4 } }],
  ['member_not_found', 404, { op: 'removeMember', ref: DEFAULT, input: { userId: 7, roleId: 4 } }],
  ['segment_not_found', 404, { op: 'deleteSegment', ref: { segment: 99, project: null } }],
  ['parent_not_found', 404, { op: 'addDependency', ref: CHECKOUT, input: { flag: 'none' } }, checkout],
  ['dependency_not_found', 404, { op: 'removeDependency', ref: CHECKOUT, input: { flag: 'none' } }, checkout],
  ['project_exists', 409, { op: 'createProject', input: { id: 'default', name: 'Default' } }],
  ['flag_exists', 409, { op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } }, checkout],
  ['member_exists', 400, { op: 'addMember', ref: DEFAULT, input: { userId: 1, roleId: 4 } }, owned],
  ['segment_exists', 409, { op: 'createSegment', input: { name: 'beta', constraints: [] } }, segment],
  ['flag_archived', 409, { op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }, archived],
  ['flag_not_archived', 409, { op: 'deleteFlag', ref: CHECKOUT }, checkout],
  ['flag_has_children', 409, { op: 'archiveFlag', ref: PAYMENTS }, dependent],
  ['segment_in_use', 409, { op: 'deleteSegment', ref: { segment: 1, project: null } }, usedSegment],
  ['dependency_cycle', 400, { op: 'addDependency', ref: CHECKOUT, input: { flag: 'checkout' } }, checkout],
  [
    'dependency_too_deep',
    409,
    { op: 'addDependency', ref: { ...DEFAULT, flag: 'search' }, input: { flag: 'checkout' } },
    dependentAndSearch,
  ],
  ['project_protected', 403, { op: 'deleteProject', ref: DEFAULT }],
  ['project_not_empty', 409, { op: 'deleteProject', ref: { project: 'shop' } }, shop],
  ['environment_has_no_strategies', 409, ENABLE, checkout],
  ['last_owner', 400, { op: 'removeMember', ref: DEFAULT, input: { userId: 1, roleId: 4 } }, owned],
  ['environment_disabled', 409, START, withStrategy],
  ['rollout_exists', 409, START, rolling],
  ['rollout_not_found', 404, { op: 'pauseRollout', ref: START.ref }, enabled],
  ['revision_mismatch', 412, { ...ENABLE, ifRevision: 99 }, withStrategy],
];

interface Target {
  readonly endpoint: ActionName;
  readonly path: string;
  readonly rest?: object;
}

/** Any time, because the rows do not reach it. */
const LATER = '2026-12-24T18:00:00.000Z';

const TARGETS: readonly Target[] = [
  { endpoint: 'applyChanges', path: CHANGES },
  { endpoint: 'planChanges', path: `${CHANGES}/plan` },
  { endpoint: 'previewChanges', path: `${CHANGES}/preview`, rest: QUESTION },
  { endpoint: 'createChangeRequest', path: '/api/admin/change-requests', rest: { at: LATER } },
];

const refusals: readonly Row[] = TARGETS.flatMap(({ endpoint, path, rest }) => [
  ...REFUSALS.map(
    ([code, status, change, given]): Row => ({
      endpoint,
      name: `refuses the second change: ${code}`,
      ...(given && { given }),
      request: {
        method: 'POST',
        path,
        body: { changes: [{ op: 'updateProject', ref: DEFAULT, input: { description: 'Changed' } }, change], ...rest },
      },
      expect: { status, code, body: expect.objectContaining({ details: [detailAt('/changes/1')] }) },
    }),
  ),
  ...[null, [], {}, { changes: {} }, { changes: [null] }, { changes: [{ op: '__proto__' }] }].map(
    (body): Row => ({
      endpoint,
      name: `refuses the body ${JSON.stringify(body)}`,
      request: { method: 'POST', path, body: body && !Array.isArray(body) ? { ...body, ...rest } : body },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint,
    name: 'refuses 501 changes',
    given: enabled,
    request: { method: 'POST', path, body: { changes: Array.from({ length: 501 }, () => ENABLE), ...rest } },
    expect: { status: 422, code: 'change_set_too_large' },
  },
]);

function detailAt(path: string): unknown {
  return expect.objectContaining({ path: expect.stringContaining(path) });
}

/** Applies a change set under a known id. */
const launched: Step = inOrder(withStrategy, (flags) =>
  flags.apply([ENABLE], { id: ID, actor: 'ada', reason: 'Launch' }),
);

const LAUNCH = {
  id: ID,
  at: NOW,
  actor: 'ada',
  reason: 'Launch',
  events: [
    {
      id: expect.any(Number),
      type: 'feature-environment-enabled',
      createdAt: NOW,
      createdBy: 'ada',
      createdByTokenId: null,
      createdByTokenType: null,
      project: 'default',
      featureName: 'checkout',
      environment: 'production',
      data: { enabled: true },
      preData: { enabled: false },
      changeSet: ID,
      reason: 'Launch',
      origin: null,
    },
  ],
  revisions: { 'flag/checkout': 3 },
};
const DESCRIBED = {
  ...LAUNCH,
  differences: [{ kind: 'flag', id: 'checkout', parts: [expect.objectContaining({ after: true })] }],
};

const applying: readonly Row[] = [
  {
    endpoint: 'applyChanges',
    name: 'applies all changes in one commit',
    given: shop,
    request: {
      method: 'POST',
      path: CHANGES,
      body: {
        id: ID,
        reason: 'Launch',
        changes: [
          { op: 'createFlag', ref: DEFAULT, input: { name: 'checkout' } },
          { op: 'addStrategy', ref: PRODUCTION, input: ROLLOUT },
          ENABLE,
          { op: 'moveFlag', ref: { project: 'shop', flag: 'basket' }, input: DEFAULT },
        ],
      },
    },
    expect: {
      status: 200,
      body: {
        id: ID,
        at: NOW,
        actor: 'administrator',
        reason: 'Launch',
        events: [
          'feature-created',
          'feature-strategy-add',
          'feature-environment-enabled',
          'feature-project-change',
        ].map((type) => expect.objectContaining({ type, changeSet: ID, reason: 'Launch', createdBy: 'administrator' })),
        revisions: { 'flag/basket': 2, 'flag/checkout': 1 },
      },
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(true),
    },
  },
  {
    endpoint: 'applyChanges',
    name: 'answers a set that changes nothing with no id',
    given: enabled,
    request: { method: 'POST', path: CHANGES, body: { changes: [ENABLE] } },
    expect: {
      status: 200,
      unchanged: true,
      body: { id: null, at: NOW, actor: 'administrator', reason: null, events: [], revisions: {} },
    },
  },
  {
    endpoint: 'applyChanges',
    name: 'answers a repeated id with the first result',
    given: inOrder(withStrategy, async (flags) => {
      const token = await flags.verifyToken(ADMIN_SECRET);
      await flags.as(token ?? '').apply([ENABLE], { id: ID, reason: 'Launch' });
    }),
    request: { method: 'POST', path: CHANGES, body: { id: ID, reason: 'Again', changes: [ENABLE] } },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        ...LAUNCH,
        actor: 'administrator',
        events: LAUNCH.events.map((event) => ({
          ...event,
          createdBy: 'administrator',
          createdByTokenId: expect.any(String),
          createdByTokenType: 'admin',
        })),
      },
    },
  },
  {
    endpoint: 'applyChanges',
    name: 'refuses a repeated id of another actor',
    given: launched,
    request: { method: 'POST', path: CHANGES, body: { id: ID, changes: [ENABLE] } },
    expect: { status: 409, code: 'id_taken' },
  },
  {
    endpoint: 'applyChanges',
    name: 'refuses when another document has changed',
    given: withStrategy,
    request: { method: 'POST', path: CHANGES, body: { ifRevision: { 'project/default': 99 }, changes: [ENABLE] } },
    expect: { status: 412, code: 'revision_mismatch' },
  },
  ...[{ id: 'mine' }, { id: null }, { reason: 7 }, { ifRevision: { checkout: 1 } }].map(
    (members): Row => ({
      endpoint: 'applyChanges',
      name: `refuses ${JSON.stringify(members)}`,
      given: withStrategy,
      request: { method: 'POST', path: CHANGES, body: { changes: [ENABLE], ...members } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const planning: readonly Row[] = [
  {
    endpoint: 'planChanges',
    name: 'shows the documents before and after, and the events',
    given: withStrategy,
    request: { method: 'POST', path: `${CHANGES}/plan`, body: { changes: [ENABLE] } },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        documents: [
          {
            kind: 'flag',
            id: 'checkout',
            before: expect.objectContaining({ name: 'checkout' }),
            after: expect.objectContaining({ name: 'checkout' }),
            events: [
              {
                type: 'feature-environment-enabled',
                project: 'default',
                featureName: 'checkout',
                environment: 'production',
                data: { enabled: true },
                preData: { enabled: false },
              },
            ],
          },
        ],
        effects: [{ ...PRODUCTION, before: 'off', after: 'on' }],
        hiddenEffects: 0,
        approval: null,
      },
    },
  },
  {
    endpoint: 'planChanges',
    name: 'shows the approval that the changes need',
    given: inOrder(withStrategy, protecting),
    request: { method: 'POST', path: `${CHANGES}/plan`, body: { changes: [ENABLE] } },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ approval: { required: 1, environments: ['production'] } }),
    },
  },
  {
    endpoint: 'planUndo',
    name: 'shows the approval that the undo needs',
    given: inOrder(
      withStrategy,
      (flags) => flags.enable(PRODUCTION),
      (flags) => flags.apply([{ ...ENABLE, op: 'disable' }], { id: ID }),
      protecting,
    ),
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo/plan` },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ approval: { required: 1, environments: ['production'] } }),
    },
  },
  {
    endpoint: 'previewChanges',
    name: 'evaluates contexts before and after',
    given: withStrategy,
    request: { method: 'POST', path: `${CHANGES}/preview`, body: { changes: [ENABLE], ...QUESTION } },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        flags: [
          {
            project: 'default',
            flag: 'checkout',
            before: { enabled: 0 },
            after: { enabled: expect.any(Number) },
            contexts: [
              {
                before: {
                  enabled: false,
                  variant: { name: 'disabled', enabled: false, feature_enabled: false, featureEnabled: false },
                  reason: 'disabled',
                },
                after: expect.objectContaining({ reason: expect.stringMatching(/strategy/) }),
                buckets: [{ strategy: strategyId(1), bucket: expect.any(Number), rollout: 25 }],
              },
              expect.objectContaining({ buckets: [{ strategy: strategyId(1), bucket: null, rollout: 25 }] }),
            ],
          },
        ],
      },
    },
  },
  ...[
    { environment: 'production' },
    { environment: 'production', contexts: [{ userId: {} }] },
    { environment: 'production', contexts: Array.from({ length: 1001 }, () => ({})) },
    { environment: 7, contexts: [] },
  ].map(
    (question, index): Row => ({
      endpoint: 'previewChanges',
      name: `refuses an invalid preview, ${index}`,
      given: withStrategy,
      request: { method: 'POST', path: `${CHANGES}/preview`, body: { changes: [ENABLE], ...question } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
  {
    endpoint: 'previewChanges',
    name: 'refuses an environment that does not exist',
    given: withStrategy,
    request: {
      method: 'POST',
      path: `${CHANGES}/preview`,
      body: { changes: [ENABLE], environment: 'moon', contexts: [] },
    },
    expect: { status: 404, code: 'environment_not_found' },
  },
];

const HISTORIES = [
  ['listHistory', '/api/admin/history'],
  ['listProjectHistory', `${PROJECT}/history`],
  ['listFlagHistory', `${FLAG}/history`],
] as const;

const reading: readonly Row[] = [
  {
    endpoint: 'getChange',
    name: 'shows a change set with its events and differences',
    given: launched,
    request: { method: 'GET', path: `${CHANGES}/${ID}` },
    expect: { status: 200, unchanged: true, body: DESCRIBED },
  },
  {
    endpoint: 'getChange',
    name: 'does not find an unknown change set',
    given: launched,
    request: { method: 'GET', path: `${CHANGES}/${UNKNOWN_ID}` },
    expect: { status: 404, code: 'change_set_not_found' },
  },
  ...HISTORIES.flatMap(([endpoint, path]): Row[] => [
    {
      endpoint,
      name: 'shows change sets, newest first, with their differences',
      given: launched,
      request: { method: 'GET', path: `${path}?limit=1` },
      expect: {
        status: 200,
        unchanged: true,
        body: {
          version: 1,
          changes: [DESCRIBED],
          next: expect.any(String),
        },
        headers: { link: 'rel="next"' },
      },
    },
    ...['limit=0', 'limit=many', 'after=yesterday'].map(
      (query): Row => ({
        endpoint,
        name: `refuses ${query}`,
        given: launched,
        request: { method: 'GET', path: `${path}?${query}` },
        expect: { status: 400, code: 'invalid_input' },
      }),
    ),
  ]),
  ...(['listProjectHistory', 'listFlagHistory'] as const).map(
    (endpoint): Row => ({
      endpoint,
      name: 'does not find a project that does not exist',
      request: {
        method: 'GET',
        path: `/api/admin/projects/moon/${endpoint === 'listFlagHistory' ? 'features/checkout/' : ''}history`,
      },
      expect: { status: 404, code: 'project_not_found' },
    }),
  ),
  {
    endpoint: 'listFlagHistory',
    name: 'does not find a flag that does not exist',
    request: { method: 'GET', path: `${FLAG}/history` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint: 'getFlag',
    name: 'shows a flag as it was',
    given: enabled,
    request: { method: 'GET', path: `${FLAG}?asOf=${NOW}` },
    expect: { status: 200, unchanged: true, body: expect.objectContaining({ name: 'checkout', lastSeenAt: null }) },
  },
  ...['2000-01-01T00:00:00.000Z', 'yesterday', ''].map(
    (time): Row => ({
      endpoint: 'getFlag',
      name: `refuses a time before the log, or none: ${time}`,
      given: enabled,
      request: { method: 'GET', path: `${FLAG}?asOf=${time}` },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];

const undoing: readonly Row[] = [
  {
    endpoint: 'undoChange',
    name: 'refuses to switch a flag on without the approval that it needs',
    given: inOrder(enabled, (flags) => flags.apply([{ ...ENABLE, op: 'disable' }], { id: ID }), protecting),
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo` },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'undoChange',
    name: 'reverts a change set',
    given: launched,
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo`, body: { reason: 'Too early' } },
    expect: {
      status: 200,
      body: expect.objectContaining({
        actor: 'administrator',
        reason: 'Too early',
        events: [expect.objectContaining({ type: 'feature-environment-disabled' })],
        revisions: { 'flag/checkout': 4 },
      }),
      afterwards: async (flags) => expect((await flags.getFlag(CHECKOUT)).environments[1]?.enabled).toBe(false),
    },
  },
  {
    endpoint: 'planUndo',
    name: 'shows the direction of an undo',
    given: launched,
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo/plan` },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        documents: [
          expect.objectContaining({ events: [expect.objectContaining({ type: 'feature-environment-disabled' })] }),
        ],
        effects: [{ ...PRODUCTION, before: 'on', after: 'off' }],
        hiddenEffects: 0,
        approval: null,
      },
    },
  },
  {
    endpoint: 'previewUndo',
    name: 'counts who would see what after an undo',
    given: launched,
    request: {
      method: 'POST',
      path: `${CHANGES}/${ID}/undo/preview`,
      body: { environment: 'production', contexts: [{ userId: '10' }] },
    },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        flags: [expect.objectContaining({ flag: 'checkout', before: { enabled: 1 }, after: { enabled: 0 } })],
      },
    },
  },
  {
    endpoint: 'previewUndo',
    name: 'does not find an unknown change set',
    request: {
      method: 'POST',
      path: `${CHANGES}/${UNKNOWN_ID}/undo/preview`,
      body: { environment: 'production', contexts: [] },
    },
    expect: { status: 404, code: 'change_set_not_found' },
  },
  {
    endpoint: 'previewUndo',
    name: 'does not find an unknown environment',
    given: launched,
    request: {
      method: 'POST',
      path: `${CHANGES}/${ID}/undo/preview`,
      body: { environment: 'moon', contexts: [] },
    },
    expect: { status: 404, code: 'environment_not_found' },
  },
  {
    endpoint: 'previewUndo',
    name: 'refuses a body without contexts',
    given: launched,
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo/preview`, body: { environment: 'production' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'planUndo',
    name: 'does not find an unknown change set',
    request: { method: 'POST', path: `${CHANGES}/${UNKNOWN_ID}/undo/plan` },
    expect: { status: 404, code: 'change_set_not_found' },
  },
  {
    endpoint: 'undoChange',
    name: 'does not find an unknown change set',
    request: { method: 'POST', path: `${CHANGES}/${UNKNOWN_ID}/undo` },
    expect: { status: 404, code: 'change_set_not_found' },
  },
  {
    endpoint: 'undoChange',
    name: 'refuses an invalid reason',
    given: launched,
    request: { method: 'POST', path: `${CHANGES}/${ID}/undo`, body: { reason: 7 } },
    expect: { status: 400, code: 'invalid_input' },
  },
];

const undo =
  (change: Change): Step =>
  (flags) =>
    flags.apply([change], { id: ID });
const DEPENDENCY = { ref: CHECKOUT, input: { flag: 'payments' } } as const;

/** Sets whose undo would break an invariant after later changes. */
const BROKEN: readonly (readonly [code: PossibleCode, status: number, ...steps: Step[]])[] = [
  [
    'undo_conflict',
    409,
    checkout,
    undo({ op: 'updateFlag', ref: CHECKOUT, input: { description: 'first' } }),
    (flags) => flags.updateFlag(CHECKOUT, { description: 'second' }),
  ],
  [
    'project_not_empty',
    409,
    undo({ op: 'createProject', input: { id: 'shop', name: 'Shop' } }),
    (flags) => flags.createFlag({ project: 'shop' }, { name: 'basket' }),
  ],
  [
    'segment_in_use',
    409,
    checkout,
    undo({ op: 'createSegment', input: { name: 'beta', constraints: [] } }),
    (flags) => flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] }),
  ],
  [
    'flag_has_children',
    409,
    checkout,
    undo({ op: 'createFlag', ref: DEFAULT, input: { name: 'payments' } }),
    (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }),
  ],
  [
    'dependency_too_deep',
    409,
    dependentAndSearch,
    undo({ op: 'removeDependency', ...DEPENDENCY }),
    (flags) => flags.addDependency(PAYMENTS, { flag: 'search' }),
  ],
  [
    'last_owner',
    400,
    staffed,
    undo({ op: 'changeMemberRole', ref: DEFAULT, input: { userId: 2, roleId: 4 } }),
    (flags) => flags.changeMemberRole(DEFAULT, { userId: 1, roleId: 5 }),
  ],
];

const UNDOING = [
  { endpoint: 'undoChange', path: `${CHANGES}/${ID}/undo` },
  { endpoint: 'planUndo', path: `${CHANGES}/${ID}/undo/plan` },
  {
    endpoint: 'previewUndo',
    path: `${CHANGES}/${ID}/undo/preview`,
    body: { environment: 'production', contexts: [] },
  },
] as const;

const brokenRows: readonly Row[] = UNDOING.flatMap(({ endpoint, ...request }) =>
  BROKEN.map(([code, status, ...steps]) => ({
    endpoint,
    name: `refuses to break an invariant: ${code}`,
    given: inOrder(...steps),
    request: { method: 'POST', ...request },
    expect: { status, code },
  })),
);

export const changeRows: readonly Row[] = [
  ...applying,
  ...planning,
  ...reading,
  ...undoing,
  ...brokenRows,
  ...refusals,
];
