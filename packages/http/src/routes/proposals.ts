import type { ChangeContext, ErrorCode, Flags, Proposal } from '@flags/core';
import { listReadableProposals, PROPOSAL_STATES, proposalNotFound } from '@flags/core/integration';
import type {
  ApplyProposalOptions,
  ApprovalPolicy,
  ListedProposal,
  NewProposal,
  ProposalOptions,
} from '@flags/core/types';
import { projectIn } from '../api/body.js';
import { type Route, type RouteRequest, revised, route } from '../api/route.js';
import type { Action } from '../auth/roles.js';
import { askForChanges, createAsking } from '../changes/permissions.js';
import { BODIES, proposedChangesSchema } from '../changes/wire.js';
import { unchecked } from '../messages/request.js';
import {
  boolean,
  count,
  example,
  listOf,
  mapOf,
  nullableText,
  objectComponent,
  optionalTimestamp,
  strictObject,
  text,
  timestamp,
  version,
} from '../wire/schema.js';
import { CHANGE_ERRORS, changesIn, FEW_CHANGES, hasAtMost, idOf, withoutUndefined } from './changes.js';
import { APPROVAL_POLICY, PROPOSAL, PROPOSALS } from './paths.js';
import { authorSchema, authorToWire } from './schedules.js';
import { type Asker, assertPermitted, listRoute, projectsOf } from './waiting.js';

const policySchema = objectComponent(
  'ApprovalPolicy',
  {
    environments: {
      ...example(
        { production: { required: 1 } },
        mapOf(strictObject({ required: { ...count, description: 'How many people must approve.' } })),
      ),
      description: 'The environments whose changes need approval, by name.',
    },
  },
  {
    unknownEnvironments: {
      ...listOf(text),
      description: 'Those that this server does not have; another node may. Absent if it has all of them.',
    },
  },
);

/** Names what this engine does not protect, because it does not have it: a misspelt name protects nothing. */
function policyToWire({ environments }: ApprovalPolicy, { settings }: Flags) {
  const known = new Set(settings.environments.map(({ name }) => name));
  const unknownEnvironments = Object.keys(environments).filter((name) => !known.has(name));
  return { environments, ...(unknownEnvironments.length > 0 && { unknownEnvironments }) };
}

/** Which environments need approval. */
export const policyRoutes: readonly Route[] = [
  route('GET', APPROVAL_POLICY, 'getApprovalPolicy', {
    permissionBy: 'anyProject',
    summary: 'Get the environments whose changes need approval',
    reply: policySchema,
    caching: { by: 'flags' },
    handle: async ({ flags }) => ({ body: policyToWire(await flags.getApprovalPolicy(), flags) }),
  }),
  route('PUT', APPROVAL_POLICY, 'changeApprovalPolicy', {
    summary: 'Replace the environments whose changes need approval',
    body: 'approvalPolicy',
    reply: policySchema,
    errors: ['approval_required'],
    handle: async ({ flags, body, context }) => ({
      body: policyToWire(await flags.setApprovalPolicy(unchecked<ApprovalPolicy>(body), context), flags),
    }),
  }),
];

const state = example('open', { type: 'string', enum: PROPOSAL_STATES });

const proposedRollout = strictObject({
  ref: strictObject({ project: text, flag: text, environment: text, strategy: text }),
  steps: listOf(
    strictObject({ rollout: { type: 'number' }, hold: example(3_600_000, { anyOf: [count, { type: 'null' }] }) }),
  ),
  guarded: boolean,
});

const approval = { actor: example('grace@example.org'), at: timestamp, reason: nullableText };

const listed = {
  id: example('0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b13'),
  state,
  rollout: {
    ...example(null, { anyOf: [proposedRollout, { type: 'null' }] }),
    description: 'The rollout that it proposes; null if it proposes changes.',
  },
  author: authorSchema,
  createdAt: timestamp,
  reason: text,
  required: { ...count, description: 'How many people must approve it, when that was last computed.' },
  approvals: listOf(strictObject(approval)),
  flags: listOf(strictObject({ project: text, flag: text })),
  environments: listOf(text),
  expiresAt: { ...timestamp, description: 'When it lapses.' },
  schedule: {
    ...example(null, nullableText),
    description: 'The id of the last schedule that was to apply it; null without one.',
  },
  changeSet: {
    ...example(null, nullableText),
    description: 'The id of the change set that applied it; null if it was not applied, or changed nothing.',
  },
  endedAt: {
    ...example(null, optionalTimestamp),
    description: 'When it was applied, rejected, withdrawn, or lapsed; null before.',
  },
};

const proposalSchema = objectComponent('Proposal', {
  ...listed,
  approvals: listOf(
    strictObject({
      ...approval,
      current: { ...boolean, description: 'Whether what was approved is still what would happen; else it has lapsed.' },
    }),
  ),
  changes: { ...proposedChangesSchema, description: 'The changes; empty if it proposes a rollout.' },
});

const proposalListSchema = objectComponent(
  'ProposalList',
  { version, proposals: listOf(strictObject(listed)) },
  { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
);

/** The ids of people are for comparisons only. */
export function listedProposalToWire({ author, approvals, projects, revision, ...proposal }: ListedProposal) {
  const approvedBy = approvals.map(({ actor, ...rest }) => ({ ...rest, actor: actor.name }));
  return { ...proposal, author: authorToWire(author), approvals: approvedBy };
}

export function proposalToWire({ changes, ...proposal }: Proposal) {
  const approvals = proposal.approvals.map(({ actor, ...rest }) => ({ ...rest, actor: actor.name }));
  return { ...listedProposalToWire(proposal), approvals, changes };
}

/** Returns a proposal. One that the caller may not read does not exist for that caller. */
async function findReadable(asker: Asker, id: string, action: Action): Promise<Proposal> {
  const proposal = await asker.flags.getProposal({ proposal: id });
  const projects = projectsOf(asker, proposal);
  await assertPermitted(asker, { projects, read: 'getProposal', action, notFound: () => proposalNotFound(id) });
  return proposal;
}

/** The refusals of a rollout that is proposed. */
const ROLLOUT_ERRORS: readonly ErrorCode[] = ['environment_disabled', 'rollout_exists'];

/** The default project stays protected, and only a flag itself makes a cycle: such changes cannot even be proposed. */
const NEVER_PROPOSED: readonly ErrorCode[] = ['project_protected', 'dependency_cycle'];

/** The refusals of changes that were possible when they were proposed. */
const LATER_ERRORS: readonly ErrorCode[] = [
  ...CHANGE_ERRORS.filter((code) => !NEVER_PROPOSED.includes(code)),
  ...ROLLOUT_ERRORS,
];

interface Decision {
  readonly name: 'approveProposal' | 'rejectProposal' | 'withdrawProposal';
  readonly path: 'approve' | 'reject' | 'withdraw';
  readonly permission: 'decideProposal' | 'withdrawProposal';
  readonly summary: string;
  readonly errors: readonly ErrorCode[];
}

const DECISIONS: readonly Decision[] = [
  {
    name: 'approveProposal',
    path: 'approve',
    permission: 'decideProposal',
    summary: 'Approve what a proposal would do now, as somebody else than its author',
    errors: ['own_proposal', ...LATER_ERRORS],
  },
  {
    name: 'rejectProposal',
    path: 'reject',
    permission: 'decideProposal',
    summary: 'End a proposal that is not applied, and cancel its schedule',
    errors: [],
  },
  {
    name: 'withdrawProposal',
    path: 'withdraw',
    permission: 'withdrawProposal',
    summary: 'Take back a proposal that is not applied, and cancel its schedule',
    errors: [],
  },
];

function decisionRoute({ name, path, permission, summary, errors }: Decision): Route {
  return route('POST', `${PROPOSAL}/${path}`, name, {
    permission,
    permissionBy: 'anyProject',
    summary,
    reply: proposalSchema,
    errors: [...errors, 'proposal_not_open', 'proposal_lapsed'],
    changes: 'proposal',
    ...(name === 'approveProposal' && { heavy: 'change' }),
    async handle({ params, context, ...request }: RouteRequest<'proposalId'>) {
      const asking = createAsking(request, { action: permission });
      const { id } = await findReadable(request, params.proposalId, permission);
      const decide: Flags[typeof name] = asking.flags[name].bind(asking.flags);
      return revised(await decide({ proposal: id }, context), proposalToWire);
    },
  });
}

type SentProposal = Omit<ProposalOptions, 'actor'> & { readonly rollout?: NewProposal['rollout'] };

/** Checks the permissions of what a body proposes. Returns it, not validated. */
async function askForProposed(asking: ReturnType<typeof createAsking>, body: unknown): Promise<NewProposal> {
  const { rollout } = unchecked<SentProposal>(Object(body));
  const changes = changesIn(body);
  if (rollout === undefined) return { changes: await askForChanges(asking, changes) };
  const project = projectIn(Object(rollout).ref) ?? null;
  for (const action of ['createProposal', 'startRollout', 'updateStrategy'] as const) await asking.ask(action, project);
  // The engine refuses a proposal of both.
  return unchecked<NewProposal>(withoutUndefined({ rollout, changes }));
}

/** Changes that wait for the approval of other people. */
export const proposalRoutes: readonly Route[] = [
  listRoute({
    path: PROPOSALS,
    action: 'listProposals',
    summary: 'List the proposals that the caller may read, in the order of their ids, without their changes',
    items: 'proposals',
    state,
    reply: proposalListSchema,
    projectsOf,
    list: listReadableProposals,
    toWire: listedProposalToWire,
  }),
  route('POST', PROPOSALS, 'createProposal', {
    permissionBy: 'handler',
    summary: 'Propose changes, or a rollout, for the approval of other people',
    status: 201,
    body: { schema: BODIES.proposal, checkedBy: 'core' },
    reply: proposalSchema,
    errors: [...CHANGE_ERRORS, ...ROLLOUT_ERRORS],
    heavy: 'change',
    isLight: ({ body }) => hasAtMost(FEW_CHANGES, body),
    changes: 'proposal',
    async handle({ body, ...request }) {
      const asking = createAsking(request, { action: 'createProposal' });
      const proposal = await askForProposed(asking, body);
      const { reason = request.context.reason, id: given, expiresAt } = unchecked<SentProposal>(Object(body));
      const id = idOf(given, request.context.id);
      const options = unchecked<ProposalOptions>(withoutUndefined({ reason, id, expiresAt }));
      const created = await asking.flags.createProposal(proposal, options);
      // A repeated id returns the earlier proposal, whose flags may be in other projects by now.
      for (const one of projectsOf(request, created)) await asking.ask('createProposal', one);
      return revised(created, proposalToWire);
    },
  }),
  route('GET', PROPOSAL, 'getProposal', {
    permissionBy: 'anyProject',
    summary: 'Get a proposal with its changes, and whether its approvals still hold',
    reply: proposalSchema,
    heavy: 'read',
    waits: true,
    async handle({ params, ...request }) {
      return revised(await findReadable(request, params.proposalId, 'getProposal'), proposalToWire);
    },
  }),
  ...DECISIONS.map(decisionRoute),
  route('POST', `${PROPOSAL}/apply`, 'applyProposal', {
    permissionBy: 'anyProject',
    summary: 'Apply an approved proposal as one change set, now or at a time',
    body: { schema: BODIES.applyProposal, required: false, checkedBy: 'core' },
    reply: proposalSchema,
    errors: [...LATER_ERRORS, 'proposal_not_open', 'proposal_lapsed', 'approval_required', 'schedules_disabled'],
    heavy: 'change',
    changes: 'proposal',
    async handle({ params, body, context, ...request }) {
      const asking = createAsking(request, { action: 'applyProposal' });
      const { id } = await findReadable(request, params.proposalId, 'applyProposal');
      const options = unchecked<ApplyProposalOptions>(body ?? {});
      return revised(
        await asking.flags.applyProposal({ proposal: id }, options, context as ChangeContext),
        proposalToWire,
      );
    },
  }),
];
