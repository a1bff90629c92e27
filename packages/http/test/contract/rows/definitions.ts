import type { Definitions } from '@flags/core';
import type { PossibleCode } from '../../../src/openapi/responses.js';
import { inOrder, type Row, type Step } from '../row.js';
import {
  CHECKOUT,
  checkout,
  DEFAULT,
  enabled,
  NOW,
  owned,
  PRODUCTION,
  protecting,
  ROLLOUT,
  shop,
  strategyId,
  withStrategy,
} from '../states.js';

const EXPORT = '/api/admin/export';
const IMPORT = '/api/admin/import';

const definitions: Definitions = {
  version: 1,
  projects: [{ id: 'tools', name: 'Tools' }],
  segments: [{ name: 'beta', constraints: [] }],
  flags: [
    {
      name: 'checkout',
      project: 'tools',
      environments: { production: { enabled: true, strategies: [{ name: 'default', segments: ['beta'] }] } },
    },
  ],
};

const PAYMENTS = { ...DEFAULT, flag: 'payments' };
const dependent: Step = inOrder(
  checkout,
  (flags) => flags.createFlag(DEFAULT, { name: 'payments' }),
  (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }),
);
const used: Step = inOrder(
  checkout,
  shop,
  (flags) => flags.segments.create({ name: 'beta', constraints: [] }),
  (flags) => flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] }),
);

function ofFlags(...flags: NonNullable<Definitions['flags']>): Definitions {
  return { version: 1, flags };
}

const REFUSALS: readonly (readonly [code: PossibleCode, status: number, document: unknown, given?: Step])[] = [
  ['parent_not_found', 404, ofFlags({ name: 'a', dependencies: [{ flag: 'b' }] }, { name: 'b', archived: true })],
  ['dependency_cycle', 400, ofFlags({ name: 'a', dependencies: [{ flag: 'a' }] })],
  ['dependency_too_deep', 409, ofFlags({ name: 'a', dependencies: [{ flag: 'checkout' }] }), dependent],
  ['flag_has_children', 409, ofFlags({ name: PAYMENTS.flag, archived: true }), dependent],
  ['segment_in_use', 409, { version: 1, segments: [{ name: 'beta', project: 'shop' }] }, used],
  ['last_owner', 400, { version: 1, projects: [{ id: 'default', members: [] }] }, owned],
  ['invalid_input', 400, ofFlags({ name: 'a', project: 'moon' })],
  ['invalid_input', 400, { version: 1, flags: [{ name: 7 }] }],
  ['invalid_input', 400, undefined],
];

export const definitionRows: readonly Row[] = [
  {
    endpoint: 'importDefinitions',
    name: 'refuses a document that needs approval, and changes nothing',
    given: protecting,
    request: { method: 'POST', path: IMPORT, body: { definitions } },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 'exportDefinitions',
    name: 'shows everything as one document',
    given: withStrategy,
    request: { method: 'GET', path: EXPORT },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        projects: [expect.objectContaining({ id: 'default', members: [] })],
        segments: [],
        flags: [expect.objectContaining({ name: 'checkout', project: 'default', createdAt: NOW })],
      },
    },
  },
  {
    endpoint: 'exportDefinitions',
    name: 'shows one project',
    given: shop,
    request: { method: 'GET', path: `${EXPORT}?project=shop` },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({ projects: [expect.objectContaining({ id: 'shop' })] }),
    },
  },
  {
    endpoint: 'exportDefinitions',
    name: 'refuses a project that does not exist',
    request: { method: 'GET', path: `${EXPORT}?project=moon` },
    expect: { status: 404, code: 'project_not_found' },
  },
  {
    endpoint: 'exportDefinitions',
    name: 'refuses an empty project',
    request: { method: 'GET', path: `${EXPORT}?project=` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'importDefinitions',
    name: 'commits the differences',
    request: { method: 'POST', path: IMPORT, body: { definitions, reason: 'Release' } },
    expect: {
      status: 200,
      body: {
        dryRun: false,
        changeSet: { id: expect.any(String), at: NOW },
        differences: ['tools', '1', 'checkout'].map((id) => expect.objectContaining({ id })),
        rollouts: [],
      },
      afterwards: async (flags) => {
        expect((await flags.getFlag({ project: 'tools', flag: 'checkout' })).environments[1]?.enabled).toBe(true);
      },
    },
  },
  {
    endpoint: 'importDefinitions',
    name: 'commits nothing where nothing differs',
    given: (flags) => flags.definitions.import(definitions),
    request: { method: 'POST', path: IMPORT, body: { definitions, prune: true } },
    expect: { status: 200, unchanged: true, body: { dryRun: false, changeSet: null, differences: [], rollouts: [] } },
  },
  {
    endpoint: 'importDefinitions',
    name: 'shows the differences in a dry run',
    given: checkout,
    request: {
      method: 'POST',
      path: IMPORT,
      body: { definitions: ofFlags({ name: 'payments', project: 'default' }), dryRun: true, prune: true },
    },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        dryRun: true,
        changeSet: null,
        differences: [
          { kind: 'flag', id: 'payments', parts: [expect.objectContaining({ path: '', before: null })] },
          {
            kind: 'flag',
            id: 'checkout',
            parts: [
              { path: '/archived', before: false, after: true },
              { path: '/archivedAt', before: null, after: NOW },
            ],
          },
        ],
        rollouts: [],
        effects: [],
        hiddenEffects: 0,
        approval: null,
      },
    },
  },
  {
    endpoint: 'importDefinitions',
    name: 'shows in a dry run the effects on clients',
    given: enabled,
    request: {
      method: 'POST',
      path: IMPORT,
      body: { definitions: ofFlags({ name: 'checkout', archived: true }), dryRun: true },
    },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        effects: [{ ...PRODUCTION, before: 'on', after: 'absent' }],
        hiddenEffects: 0,
      }),
    },
  },
  {
    endpoint: 'importDefinitions',
    name: 'shows in a dry run the approval that it needs, and the strategies whose percentage it leaves alone',
    given: inOrder(
      enabled,
      (flags) => flags.rollouts.start({ ...PRODUCTION, strategy: strategyId(1) }, { steps: [{ percentage: 60 }] }),
      protecting,
    ),
    request: {
      method: 'POST',
      path: IMPORT,
      body: {
        definitions: ofFlags({
          name: 'checkout',
          environments: { production: { enabled: true, strategies: [ROLLOUT, { name: 'default' }] } },
        }),
        dryRun: true,
      },
    },
    expect: {
      status: 200,
      unchanged: true,
      body: expect.objectContaining({
        rollouts: [{ ...PRODUCTION, strategy: strategyId(1) }],
        approval: { required: 1, environments: ['production'] },
      }),
    },
  },
  ...REFUSALS.map(
    ([code, status, document, given], index): Row => ({
      endpoint: 'importDefinitions',
      name: `refuses ${code}, ${index}`,
      ...(given && { given }),
      request: { method: 'POST', path: IMPORT, body: { definitions: document } },
      expect: { status, code },
    }),
  ),
  ...[{ prune: 7 }, { dryRun: 'yes' }, { reason: 7 }].map(
    (members): Row => ({
      endpoint: 'importDefinitions',
      name: `refuses ${JSON.stringify(members)}`,
      request: { method: 'POST', path: IMPORT, body: { definitions, ...members } },
      expect: { status: 400, code: 'invalid_input' },
    }),
  ),
];
