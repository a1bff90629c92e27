import { lapse } from '../../src/approvals/proposal.decide.js';
import { PROPOSAL_STATES, type ProposalState } from '../../src/approvals/proposal.js';

const EXPIRES_AT = '2026-01-15T00:00:00.000Z';
const NOW = new Date(EXPIRES_AT);

function proposalState(changes: Partial<ProposalState>): ProposalState {
  const proposal: Partial<ProposalState> = { id: 'p-1', projects: ['shop'], expiresAt: EXPIRES_AT, ...changes };
  return proposal as ProposalState;
}

// The runner lists proposals first. Another process may apply or end one of them before the runner commits.
describe('a proposal whose time has passed', () => {
  it.each(['open', 'approved'] as const)('lapses while it is %s', (state) => {
    expect(lapse(proposalState({ state }), NOW)).toMatchObject({
      next: { state: 'lapsed', endedAt: EXPIRES_AT, changeSet: null },
      event: { type: 'proposal-ended', data: { state: 'lapsed' }, before: { state } },
    });
  });

  it.each(PROPOSAL_STATES.filter((state) => state !== 'open' && state !== 'approved'))('stays %s', (state) => {
    expect(lapse(proposalState({ state }), NOW)).toBeUndefined();
  });

  it('lapses not a millisecond earlier', () => {
    expect(lapse(proposalState({ state: 'open' }), new Date(NOW.getTime() - 1))).toBeUndefined();
  });
});
