import type { Flags } from '@flags/core';
import { inOrder, type Row } from '../row.js';
import {
  archived,
  CHECKOUT,
  DEFAULT,
  enabled,
  FEATURES,
  FLAG,
  PRODUCTION,
  PROJECTS,
  protecting,
  shop,
  UNKNOWN_FLAG,
  withStrategy,
} from '../states.js';

const ENVIRONMENT = `${FLAG}/environments/production`;

/** On while checkout is off. */
const OLD = { ...PRODUCTION, flag: 'old' };

async function expectEnabled(flags: Flags, production: boolean): Promise<void> {
  const { environments } = await flags.getFlag(CHECKOUT);
  expect(environments.map((environment) => environment.enabled)).toEqual([false, production]);
}

const ownRows: readonly Row[] = [
  {
    endpoint: 'listEnvironments',
    name: 'lists the configured environments in their order',
    request: { method: 'GET', path: '/api/admin/environments' },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        version: 1,
        environments: [
          {
            ...{ name: 'development', displayName: 'Development', type: 'development' },
            ...{ enabled: true, protected: true, sortOrder: 1 },
          },
          {
            ...{ name: 'production', displayName: 'production', type: 'production' },
            ...{ enabled: true, protected: true, sortOrder: 2 },
          },
        ],
      },
    },
  },
  {
    endpoint: 13,
    name: 'switches a flag on',
    given: withStrategy,
    request: { method: 'POST', path: `${ENVIRONMENT}/on` },
    expect: { status: 200, body: null, afterwards: (flags) => expectEnabled(flags, true) },
  },
  {
    endpoint: 13,
    name: 'ignores a body, whatever it is',
    given: withStrategy,
    request: { method: 'POST', path: `${ENVIRONMENT}/on`, body: '{', headers: { 'content-type': 'text/plain' } },
    expect: { status: 200, body: null, afterwards: (flags) => expectEnabled(flags, true) },
  },
  {
    endpoint: 13,
    name: 'does nothing to an enabled environment',
    given: enabled,
    request: { method: 'POST', path: `${ENVIRONMENT}/on` },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 13,
    name: 'refuses an environment without strategies',
    given: withStrategy,
    request: { method: 'POST', path: `${FLAG}/environments/development/on` },
    expect: { status: 409, code: 'environment_has_no_strategies' },
  },
  {
    endpoint: 14,
    name: 'refuses to switch off a flag whose child would go on, which needs approval',
    given: inOrder(
      enabled,
      (flags) => flags.createFlag(DEFAULT, { name: 'old' }),
      (flags) => flags.addDependency(OLD, { flag: 'checkout', enabled: false }),
      (flags) => flags.addStrategy(OLD, { name: 'default' }),
      (flags) => flags.enable(OLD),
      protecting,
    ),
    request: { method: 'POST', path: `${ENVIRONMENT}/off` },
    expect: { status: 409, code: 'approval_required' },
  },
  {
    endpoint: 14,
    name: 'switches a flag off',
    given: enabled,
    request: { method: 'POST', path: `${ENVIRONMENT}/off` },
    expect: { status: 200, body: null, afterwards: (flags) => expectEnabled(flags, false) },
  },
  {
    endpoint: 14,
    name: 'does nothing to a disabled environment',
    given: withStrategy,
    request: { method: 'POST', path: `${ENVIRONMENT}/off` },
    expect: { status: 200, body: null, unchanged: true },
  },
];

const commonRows: readonly Row[] = (
  [
    [13, 'on'],
    [14, 'off'],
  ] as const
).flatMap(([endpoint, action]): Row[] => [
  {
    endpoint,
    name: 'refuses an archived flag',
    given: archived,
    request: { method: 'POST', path: `${ENVIRONMENT}/${action}` },
    expect: { status: 409, code: 'flag_archived' },
  },
  {
    endpoint,
    name: 'does not find an unknown environment',
    given: withStrategy,
    request: { method: 'POST', path: `${FLAG}/environments/unknown/${action}` },
    expect: { status: 404, code: 'environment_not_found' },
  },
  {
    endpoint,
    name: 'does not find an unknown flag',
    request: { method: 'POST', path: `${UNKNOWN_FLAG}/environments/production/${action}` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find a flag of another project',
    given: shop,
    request: { method: 'POST', path: `${FEATURES}/basket/environments/production/${action}` },
    expect: { status: 404, code: 'flag_not_found' },
  },
  {
    endpoint,
    name: 'does not find an unknown project',
    given: withStrategy,
    request: { method: 'POST', path: `${PROJECTS}/unknown/features/checkout/environments/production/${action}` },
    expect: { status: 404, code: 'project_not_found' },
  },
]);

export const switchingRows: readonly Row[] = [...ownRows, ...commonRows];
