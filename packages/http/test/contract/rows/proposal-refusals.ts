import type { Change } from '@flags/core';
import type { PossibleCode } from '../../../src/openapi/responses.js';
import { inOrder, type Row, type Step } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  DEFAULT,
  owned,
  PRODUCTION,
  staffed,
  strategyId,
  withStrategy,
} from '../states.js';
import { approve, BY_GRACE, ID } from './proposal-states.js';

const SHOP = { project: 'shop' };
const PAYMENTS = { ...DEFAULT, flag: 'payments' };
const STRATEGY = { ...PRODUCTION, strategy: strategyId(1) };
const SEGMENT = { segment: 1, project: null };
const UPDATE: Change = { op: 'updateFlag', ref: CHECKOUT, input: { description: 'Proposed' } };

const family: Step = inOrder(checkout, (flags) => flags.createFlag(DEFAULT, { name: 'payments' }));
const dependent: Step = inOrder(family, (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }));
const familyOfThree: Step = inOrder(family, (flags) => flags.createFlag(DEFAULT, { name: 'search' }));
const emptyShop: Step = (flags) => flags.createProject({ id: 'shop', name: 'Shop' });
const segment: Step = (flags) => flags.createSegment({ name: 'beta', constraints: [] });
const archive: Step = (flags) => flags.archiveFlag(CHECKOUT);
const removeStrategy: Step = (flags) => flags.removeStrategy(STRATEGY);

/** Changes that could be made when they were proposed, and what prevents them later. */
const PREVENTED: readonly (readonly [code: PossibleCode, status: number, change: Change, given: Step, since: Step])[] =
  [
    [
      'project_not_found',
      404,
      { op: 'createFlag', ref: SHOP, input: { name: 'x' } },
      emptyShop,
      (flags) => flags.deleteProject(SHOP),
    ],
    ['flag_not_found', 404, UPDATE, checkout, inOrder(archive, (flags) => flags.deleteFlag(CHECKOUT))],
    ['strategy_not_found', 404, { op: 'removeStrategy', ref: STRATEGY }, withStrategy, removeStrategy],
    [
      'member_not_found',
      404,
      { op: 'removeMember', ref: DEFAULT, input: { userId: 2, roleId: 5 } },
      staffed,
      (flags) => flags.removeMember(DEFAULT, { userId: 2, roleId: 5 }),
    ],
    ['segment_not_found', 404, { op: 'deleteSegment', ref: SEGMENT }, segment, (flags) => flags.deleteSegment(SEGMENT)],
    [
      'parent_not_found',
      404,
      { op: 'addDependency', ref: CHECKOUT, input: { flag: 'payments' } },
      family,
      (flags) => flags.archiveFlag(PAYMENTS),
    ],
    [
      'dependency_not_found',
      404,
      { op: 'removeDependency', ref: CHECKOUT, input: { flag: 'payments' } },
      dependent,
      (flags) => flags.removeDependency(CHECKOUT, { flag: 'payments' }),
    ],
    ['project_exists', 409, { op: 'createProject', input: { id: 'shop', name: 'Shop' } }, checkout, emptyShop],
    [
      'flag_exists',
      409,
      { op: 'createFlag', ref: DEFAULT, input: { name: 'payments' } },
      checkout,
      (flags) => flags.createFlag(DEFAULT, { name: 'payments' }),
    ],
    ['member_exists', 400, { op: 'addMember', ref: DEFAULT, input: { userId: 1, roleId: 4 } }, checkout, owned],
    ['segment_exists', 409, { op: 'createSegment', input: { name: 'beta', constraints: [] } }, checkout, segment],
    ['flag_archived', 409, UPDATE, checkout, archive],
    ['flag_not_archived', 409, { op: 'deleteFlag', ref: CHECKOUT }, archived, (flags) => flags.reviveFlag(CHECKOUT)],
    [
      'flag_has_children',
      409,
      { op: 'archiveFlag', ref: PAYMENTS },
      family,
      (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }),
    ],
    [
      'segment_in_use',
      409,
      { op: 'deleteSegment', ref: SEGMENT },
      inOrder(checkout, segment),
      (flags) => flags.addStrategy(PRODUCTION, { name: 'default', segments: [1] }),
    ],
    [
      'dependency_too_deep',
      409,
      { op: 'addDependency', ref: CHECKOUT, input: { flag: 'payments' } },
      familyOfThree,
      (flags) => flags.addDependency(PAYMENTS, { flag: 'search' }),
    ],
    [
      'project_not_empty',
      409,
      { op: 'deleteProject', ref: SHOP },
      emptyShop,
      (flags) => flags.createFlag(SHOP, { name: 'basket' }),
    ],
    ['environment_has_no_strategies', 409, { op: 'enable', ref: PRODUCTION }, withStrategy, removeStrategy],
    [
      'last_owner',
      400,
      { op: 'removeMember', ref: DEFAULT, input: { userId: 1, roleId: 4 } },
      inOrder(owned, (flags) => flags.addMember(DEFAULT, { userId: 2, roleId: 4 })),
      (flags) => flags.removeMember(DEFAULT, { userId: 2, roleId: 4 }),
    ],
    [
      'revision_mismatch',
      412,
      { ...UPDATE, ifRevision: 1 },
      checkout,
      (flags) => flags.updateFlag(CHECKOUT, { stale: true }),
    ],
  ];

/** Proposals whose changes would be refused by now: they can be neither approved nor applied. */
export const proposalRefusals: readonly Row[] = PREVENTED.flatMap(([code, status, change, given, since]) =>
  (['approve', 'apply'] as const).map(
    (path): Row => ({
      endpoint: `${path}Proposal`,
      name: `refuses changes that cannot be made by now: ${code}`,
      given: inOrder(
        given,
        (flags) => flags.as('ada').createProposal({ changes: [change] }, { id: ID, reason: 'Launch' }),
        ...(path === 'apply' ? [approve] : []),
        since,
      ),
      request: { method: 'POST', path: `/api/admin/proposals/${ID}/${path}`, headers: BY_GRACE },
      expect: { status, code },
    }),
  ),
);
