import type { ChangeRequest, ListedChangeRequest } from '@flags/core';
import { REQUEST_OPERATIONS, REQUEST_STATES } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
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
} from '../../messages/schema.js';
import { approvalSchema, changeSchema, reasonSchema } from '../environments/changes-wire.js';
import { failureSchema } from '../flags/rollout-wire.js';

export const policySchema = objectComponent('ApprovalPolicy', {
  environments: {
    ...example({ production: { required: 1 } }, mapOf(strictObject({ required: count }))),
    description: 'The environments whose changes need approval, by name, and how many people must approve.',
  },
  unknownEnvironments: {
    ...example([], listOf(text)),
    description: 'Those that this server does not have; another one may. Otherwise they are misspelt.',
  },
});

const changes: JsonSchema = {
  type: 'array',
  items: {
    ...changeSchema,
    properties: { ...changeSchema.properties, op: { type: 'string', enum: REQUEST_OPERATIONS } },
  },
  description: 'Those of a change set, `setApprovalPolicy`, or, alone, `undoChangeSet`; at most 500, in order.',
};

const dueAt = example('2027-05-01T09:00:00+02:00');

/** The body of a new request. */
export const newRequestSchema: JsonSchema = {
  type: 'object',
  properties: {
    changes,
    reason: reasonSchema,
    at: {
      ...dueAt,
      description: 'When it is applied by itself: ISO 8601 with `Z` or an offset, at most a year ahead.',
    },
    notAfter: {
      ...example('2027-05-01T10:00:00+02:00'),
      description: 'When it expires instead: at most 24 hours after `at`. Default: one hour after it.',
    },
    ifUnchanged: {
      ...boolean,
      description: 'Fail if a document that the changes touch has other content by then. Default: false.',
    },
    expiresAt: {
      ...example('2027-01-15T09:00:00+02:00'),
      description: 'When a request without a time expires: at most 90 days ahead. Default: in 14 days.',
    },
    replaces: { type: 'string', description: 'The id of a request that this one replaces; it ends as withdrawn.' },
    id: { type: 'string', format: 'uuid', description: 'The id of the request, like `Idempotency-Key`.' },
  },
  required: ['changes'],
};

const author = strictObject({
  name: example('ada@example.org'),
  tokenId: { ...nullableText, description: 'The id of the API token that made it; null without one.' },
  tokenType: nullableText,
  person: { ...nullableText, description: 'Who created the token; null without a token, and if nobody is known.' },
});

const nullable = (schema: JsonSchema, description: string): JsonSchema => ({ ...example(null, schema), description });

const listed = {
  id: example('0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b13'),
  state: {
    ...example('open', { type: 'string', enum: REQUEST_STATES }),
    description: '`open`: it waits for approvals. `approved`: for its time, or for a person who applies it.',
  },
  author,
  appliedBy: nullable({ anyOf: [author, { type: 'null' }] }, 'Who has set its time, or has applied it.'),
  createdAt: timestamp,
  reason: nullableText,
  at: nullable(optionalTimestamp, 'When it is applied by itself; null: a person applies it.'),
  notAfter: nullable(optionalTimestamp, 'When it expires instead; null without a time.'),
  expiresAt: nullable(optionalTimestamp, 'When it expires unless it was applied; null with a time.'),
  ifUnchanged: boolean,
  required: { ...count, description: 'How many people must approve it.' },
  approvals: listOf(
    strictObject({
      actor: example('grace@example.org'),
      at: timestamp,
      reason: nullableText,
      current: {
        ...boolean,
        description: 'Whether what was approved is still what would happen; else it does not count.',
      },
    }),
  ),
  flags: listOf(strictObject({ project: text, flag: text })),
  environments: listOf(text),
  endedAt: nullable(optionalTimestamp, 'When it was applied, failed, rejected, withdrawn, or expired.'),
  lateBy: nullable({ anyOf: [count, { type: 'null' }] }, 'Milliseconds between `at` and the commit.'),
  changeSet: nullable(nullableText, 'The id of the change set that applied it; null if nothing was left to change.'),
  failure: { ...failureSchema, description: 'Why it failed when it was due; null unless it failed.' },
};

export const listedRequestSchema = objectComponent('ListedChangeRequest', listed);

export const requestSchema = objectComponent('ChangeRequest', {
  ...listed,
  changes,
  approval: {
    ...approvalSchema,
    description: 'The approval that it needs now; null if it needs none, or its changes would be refused.',
  },
  effect: {
    ...nullableText,
    examples: ['47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
    description: 'A hash of what clients of protected environments would see. Send it to approve exactly that.',
  },
});

function authorToWire({ name, token, person }: ListedChangeRequest['author']) {
  return { name, tokenId: token?.id ?? null, tokenType: token?.kind ?? null, person: (token && person?.name) ?? null };
}

/** Leaves out the ids of people: they serve comparisons only. */
function toWire<Request extends ListedChangeRequest>(request: Request) {
  const { projects: _projects, revision: _revision, author: by, appliedBy, approvals, ...shown } = request;
  return {
    ...shown,
    author: authorToWire(by),
    appliedBy: appliedBy && authorToWire(appliedBy),
    approvals: approvals.map((approval) => ({ ...approval, actor: approval.actor.name })),
  };
}

export function listedRequestToWire(request: ListedChangeRequest) {
  return toWire(request);
}

export function requestToWire(request: ChangeRequest) {
  return toWire(request);
}
