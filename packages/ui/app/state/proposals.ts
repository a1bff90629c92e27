import { call } from '../api/call.js';
import { hasToken } from '../api/credentials.js';
import { type Loaded, useQuery } from '../api/resource.js';
import type { Change, ListedProposal, Plan, Proposal } from '../api/types.js';
import { may, session } from './session.js';

export type ProposalState = ListedProposal['state'];

/** Selects proposals. All given members must match. */
interface ProposalFilter {
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The largest page of the API. */
const PAGE = 1_000;

/** A scheduled proposal is shown as its schedule. */
const ACTIVE = ['open', 'approved'] as const;

/** Reads the proposals that are open or approved: those that wait for the caller first, then the oldest. */
export function useActiveProposals(filter: ProposalFilter | undefined): Loaded<readonly ListedProposal[]> {
  const loaded = useQuery<readonly ListedProposal[]>(
    filter && {
      action: 'listProposals',
      parameters: filter,
      async read({ signal }) {
        // One after the other: a proposal that is approved in between is in both, and counts as approved.
        const found = new Map<string, ListedProposal>();
        for (const state of ACTIVE) {
          for (const one of await readProposals({ ...filter, state }, signal)) found.set(one.id, one);
        }
        return { data: [...found.values()] };
      },
    },
  );
  // The permissions of the caller in other projects may arrive after the proposals.
  const rankOf = (one: ListedProposal) => (waitsForCaller(one) ? 0 : 1);
  return { ...loaded, data: loaded.data?.toSorted((one, other) => rankOf(one) - rankOf(other)) };
}

/** Reads the proposals that have ended, the latest first. */
export function useEndedProposals(filter: ProposalFilter): Loaded<readonly ListedProposal[]> {
  return useQuery({
    action: 'listProposals',
    parameters: { ...filter, isEnded: true },
    async read({ signal }) {
      const all = await readProposals(filter, signal);
      return { data: all.filter(({ state }) => isEnded(state)).toSorted((one, other) => compareEnds(other, one)) };
    },
  });
}

/** One whose time has passed may not be marked as ended yet. */
function compareEnds(one: ListedProposal, other: ListedProposal): number {
  return (one.endedAt ?? one.expiresAt).localeCompare(other.endedAt ?? other.expiresAt);
}

async function readProposals(
  filter: ProposalFilter & { readonly state?: ProposalState },
  signal: AbortSignal,
): Promise<readonly ListedProposal[]> {
  const found: ListedProposal[] = [];
  for (let after: string | undefined; ; ) {
    const { data } = await call('listProposals', { query: { ...filter, limit: PAGE, after }, signal });
    found.push(...data.proposals);
    after = data.next;
    if (after === undefined) return found;
  }
}

/** What a proposal would change if it were applied now. Its error says why that would fail. */
export function useProposalPlan(id: string): Loaded<Plan> {
  return useQuery({
    action: 'planChanges',
    parameters: { proposal: id },
    async read({ signal }) {
      const { data } = await call('getProposal', { params: { proposal: id }, signal });
      const changes = plannedOf(data);
      return changes.length === 0 ? { data: NOTHING } : call('planChanges', { body: { changes }, signal });
    },
  });
}

const NOTHING: Plan = { documents: [], effects: [], hiddenEffects: 0 };

/** Returns the changes of a proposal that can be planned: all but that of the approval policy. */
export function plannedOf({ changes }: Pick<Proposal, 'changes'>): readonly Change[] {
  return changes.filter(({ op }) => op !== 'setApprovalPolicy') as readonly Change[];
}

export function isEnded(state: ProposalState): boolean {
  return !(['open', 'approved', 'scheduled'] as readonly ProposalState[]).includes(state);
}

/** Returns whether the caller has made a proposal, as far as names can tell. The service compares ids, too. */
export function isOwn({ author }: Pick<ListedProposal, 'author'>): boolean {
  return isCaller(author.name) && (author.tokenId !== null) === hasToken();
}

/** Returns whether a name is that of the caller. */
export function isCaller(name: string): boolean {
  return fold(name) === fold(session.value?.actor ?? '');
}

function fold(name: string): string {
  return name.normalize('NFKC').trim().toUpperCase().toLowerCase();
}

/** Returns whether the caller is one of those who may approve a proposal next. */
export function waitsForCaller(proposal: ListedProposal): boolean {
  const { state, flags, approvals } = proposal;
  if (state !== 'open' || isOwn(proposal) || approvals.some(({ actor }) => isCaller(actor))) return false;
  const projects = flags.length === 0 ? [''] : flags.map(({ project }) => project);
  return projects.every((project) => may('decideProposal', project));
}
