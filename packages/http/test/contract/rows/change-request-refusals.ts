import type { Change, RequestedChange } from '@flags/core';
import type { PossibleCode } from '../../../src/openapi/responses.js';
import { inOrder, type Row, type Step } from '../row.js';
import {
  archived,
  CHECKOUT,
  checkout,
  DEFAULT,
  enabled,
  owned,
  PRODUCTION,
  staffed,
  strategyId,
  withStrategy,
} from '../states.js';
import { approve, BY_GRACE, ID, REQUESTS, START } from './change-request-states.js';

const SHOP = { project: 'shop' };
const PAYMENTS = { ...DEFAULT, flag: 'payments' };
const STRATEGY = { ...PRODUCTION, strategy: strategyId(1) };
const SEGMENT = { segment: 1, project: null };
const UPDATE: Change = { op: 'updateFlag', ref: CHECKOUT, input: { description: 'Requested' } };

const family: Step = inOrder(checkout, (flags) => flags.createFlag(DEFAULT, { name: 'payments' }));
const dependent: Step = inOrder(family, (flags) => flags.addDependency(CHECKOUT, { flag: 'payments' }));
const familyOfThree: Step = inOrder(family, (flags) => flags.createFlag(DEFAULT, { name: 'search' }));
const emptyShop: Step = (flags) => flags.createProject({ id: 'shop', name: 'Shop' });
const segment: Step = (flags) => flags.segments.create({ name: 'beta', constraints: [] });
const archive: Step = (flags) => flags.archiveFlag(CHECKOUT);
const removeStrategy: Step = (flags) => flags.removeStrategy(STRATEGY);

type Prevented = readonly [code: PossibleCode, status: number, change: RequestedChange, given: Step, since: Step];

/** Changes that could be made when they were requested, and what prevents them later. */
const PREVENTED: readonly Prevented[] = [
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
  ['segment_not_found', 404, { op: 'deleteSegment', ref: SEGMENT }, segment, (flags) => flags.segments.delete(SEGMENT)],
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
  ['environment_disabled', 409, START, enabled, (flags) => flags.disable(PRODUCTION)],
  ['rollout_exists', 409, START, enabled, (flags) => flags.rollouts.start(STRATEGY, { steps: [{ percentage: 9 }] })],
  [
    'rollout_not_found',
    404,
    { op: 'stopRollout', ref: STRATEGY },
    inOrder(enabled, (flags) => flags.rollouts.start(STRATEGY, { steps: [{ percentage: 9 }] })),
    (flags) => flags.rollouts.stop(STRATEGY),
  ],
  [
    'revision_mismatch',
    412,
    { ...UPDATE, ifRevision: 1 },
    checkout,
    (flags) => flags.updateFlag(CHECKOUT, { stale: true }),
  ],
];

const SET = '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7a06';

/** The undo of a set whose part has changed since. */
const CONFLICT = [
  'undo_conflict',
  409,
  { op: 'undoChangeSet', ref: { changeSet: SET } },
  inOrder(checkout, (flags) => flags.apply([UPDATE], { id: SET })),
  (flags) => flags.updateFlag(CHECKOUT, { description: 'Changed since' }),
] as const satisfies Prevented;

/** Requests whose changes would be refused by now: they can be neither approved nor applied. */
export const requestRefusals: readonly Row[] = [...PREVENTED, CONFLICT].flatMap(
  ([code, status, change, given, since]) =>
    (['approve', 'apply'] as const).map(
      (path): Row => ({
        endpoint: `${path}ChangeRequest`,
        name: `refuses changes that cannot be made by now: ${code}`,
        given: inOrder(
          given,
          (flags) => flags.as('ada').changeRequests.create([change], { id: ID, reason: 'Launch' }),
          ...(path === 'apply' ? [approve] : []),
          since,
        ),
        request: {
          method: 'POST',
          path: `${REQUESTS}/${ID}/${path}`,
          headers: BY_GRACE,
          ...(path === 'approve' && { body: { effect: 'any' } }),
        },
        expect: { status, code },
      }),
    ),
);
