import { LIMITS } from '../base/limits.js';
import { type ObjectSchema, parseIsoDate, zonedTime } from '../base/primitives.js';
import { createValidator, invalidInput } from '../base/validator.js';
import type { ApplyProposalOptions, ProposalOptions, ProposalQuery } from './approval.types.js';
import { PROPOSAL_STATES } from './proposal.js';

type ProposalTexts = Pick<ProposalOptions, 'reason' | 'expiresAt'>;

const proposalOptions: ObjectSchema<ProposalTexts> = {
  type: 'object',
  properties: { reason: { type: 'string', minLength: 1 }, expiresAt: zonedTime },
  required: ['reason'],
};

const proposalQuery: ObjectSchema<ProposalQuery> = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: PROPOSAL_STATES },
    project: { type: 'string' },
    flag: { type: 'string' },
  },
};

const applyOptions: ObjectSchema<ApplyProposalOptions> = {
  type: 'object',
  properties: { at: zonedTime, notAfter: zonedTime },
};

const validateOptions = createValidator<ProposalTexts>(proposalOptions);
export const validateProposalQuery = createValidator<ProposalQuery>(proposalQuery);
export const validateApplyOptions = createValidator<ApplyProposalOptions>(applyOptions);

/** Milliseconds until a proposal lapses: 14 days. */
const LIFETIME = 1_209_600_000;

/** Returns the reason and the end of a proposal, in its stored form. Throws `invalid_input`. */
export function readProposalOptions(
  options: ProposalOptions,
  now: Date,
): { readonly reason: string; readonly expiresAt: string } {
  const { reason, expiresAt } = validateOptions(options);
  if (reason.trim() === '') throw invalidInput([{ message: 'must say why, for those who approve', path: '/reason' }]);
  const end = expiresAt === undefined ? now.getTime() + LIFETIME : (parseIsoDate(expiresAt) ?? 0);
  if (end <= now.getTime()) throw invalidInput([{ message: 'must be ahead of now', path: '/expiresAt' }]);
  if (end > now.getTime() + LIMITS.proposalAhead) {
    throw invalidInput([{ message: 'must be at most 90 days ahead', path: '/expiresAt' }]);
  }
  return { reason, expiresAt: new Date(end).toISOString() };
}
