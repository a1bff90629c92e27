import type { Change } from '@flags/core';
import type { ListedProposal, Plan, Proposal, ProposalPage } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { type CommandIo, showPlanned } from '../output.js';
import { AT, assertTime, confirmOrRefuse, confirmPlan, deletionsIn, showPlan, tellSchedule } from '../review.js';
import { type CommandSession, type CommonOptions, inSession, readEnvironments } from '../session.js';

const OPEN = ['open', 'approved', 'scheduled'] as const;
const STATES = [...OPEN, 'applied', 'rejected', 'withdrawn', 'lapsed'] as const;

/** The states to ask for, one after the other. Undefined: any. */
const STATES_OF: Readonly<Record<string, readonly (string | undefined)[]>> = { pending: OPEN, all: [undefined] };

interface ListOptions extends CommonOptions {
  readonly state: (typeof STATES)[number] | 'pending' | 'all';
  readonly flag?: string;
}

/** Adds the commands for proposals. `--propose` of other commands makes them; people approve them on the admin page. */
export function addProposalCommands(program: Command, io: CommandIo): void {
  const proposals = program.command('proposals').description('list, apply and withdraw proposed changes');
  proposals
    .command('list', { isDefault: true })
    .description('list proposals; pending: open, approved or scheduled')
    .addOption(new Option('--state <state>', 'the state').choices([...STATES, 'pending', 'all']).default('pending'))
    .option('--flag <flag>', 'only proposals of this flag')
    .action(inSession(io, listProposals));
  proposals
    .command('show')
    .description('show what a proposal would change now, and who has approved it')
    .argument('<id>')
    .action(inSession(io, showProposal));
  proposals
    .command('withdraw')
    .description('take a proposal back, and cancel its schedule')
    .argument('<id>')
    .action(inSession(io, withdrawProposal));
  proposals
    .command('apply')
    .description('apply an approved proposal')
    .argument('<id>')
    .option(...AT)
    .action(inSession(io, applyProposal));
}

async function listProposals({ api, output, options }: CommandSession<ListOptions>): Promise<void> {
  const { state, flag, project } = options;
  const found: ListedProposal[] = [];
  for (const one of STATES_OF[state] ?? [state]) {
    for (let after: string | undefined; ; ) {
      const query = { state: one, flag, project, limit: 1000, after };
      const page: ProposalPage = await api.get<ProposalPage>('/proposals', query);
      found.push(...page.proposals);
      after = page.next;
      if (after === undefined) break;
    }
  }
  output.json(found);
  if (found.length === 0) {
    return output.line(state === 'all' ? 'There are no proposals.' : `No proposal is ${state}.`);
  }
  output.table(
    ['State', 'Approvals', 'Flags', 'Environments', 'Author', 'Reason', 'Id'],
    found.map((one) => [
      one.state,
      `${one.approvals.length} of ${one.required}`,
      flagsOf(one),
      one.environments.join(', '),
      one.author.name,
      one.reason,
      one.id,
    ]),
  );
}

function flagsOf({ flags }: Pick<ListedProposal, 'flags'>): string {
  return flags.map(({ flag }) => flag).join(', ');
}

function isPending({ state }: Proposal): boolean {
  return OPEN.some((one) => one === state);
}

function pathOf(id: string): string {
  return `/proposals/${encodeURIComponent(id)}`;
}

async function showProposal(session: CommandSession, id: string): Promise<void> {
  const { api, output } = session;
  const proposal = await api.get<Proposal>(pathOf(id));
  output.json(proposal);
  const { state, author, createdAt, reason, expiresAt, required, approvals, schedule, changeSet } = proposal;
  output.line(`${output.colors.bold(state)}  ${author.name}, ${createdAt}: ${reason}`);
  for (const line of [...rolloutLines(proposal), ...(await policyLines(session, proposal))]) output.line(line);
  const changes = plannable(proposal);
  // What was applied or has ended would do something else by now.
  if (isPending(proposal) && changes.length > 0) {
    const plan = await api.post<Plan>('/changes/plan', { changes });
    await showPlan(session, { ...plan, documents: plan.documents.filter(({ events }) => events.length > 0) });
  }
  output.line(`approvals ${approvals.filter(({ current }) => current).length} of ${required}`);
  for (const { actor, at, reason: why, current } of approvals) {
    output.line(`  ${actor}, ${at}${why === null ? '' : `: ${why}`}${current ? '' : ' (lapsed)'}`);
  }
  if (schedule !== null) output.line(`schedule ${schedule}`);
  if (changeSet !== null) output.line(`change set ${changeSet}`);
  if (isPending(proposal)) output.line(`lapses ${expiresAt}`);
}

function rolloutLines({ rollout }: Proposal): readonly string[] {
  if (rollout === null) return [];
  const { ref, steps, guarded } = rollout;
  const path = steps.map((step) => `${step.rollout}`).join(' → ');
  return [`rollout of ${ref.flag} in ${ref.environment}: ${path} %${guarded ? ', guarded' : ''}`];
}

type ProposedChange = Proposal['changes'][number];

function isPolicy(change: ProposedChange): change is Extract<ProposedChange, { readonly op: 'setApprovalPolicy' }> {
  return change.op === 'setApprovalPolicy';
}

/** The changes of a proposal that a change set may have too. */
function plannable({ changes }: Proposal): readonly Change[] {
  return changes.filter((change): change is Change => !isPolicy(change));
}

async function policyLines({ api }: CommandSession, { changes }: Proposal): Promise<readonly string[]> {
  const policies = changes.filter(isPolicy);
  if (policies.length === 0) return [];
  const known = (await readEnvironments(api)).environments;
  return policies.map(({ input }) => {
    const environments = Object.entries(input.environments).map(([name, { required }]) => {
      return `${name} ${required}${known.includes(name) ? '' : ' (unknown here)'}`;
    });
    return `approval policy: ${environments.length === 0 ? 'no environment' : environments.join(', ')}`;
  });
}

async function withdrawProposal(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const found = await api.get<Proposal>(pathOf(id));
  const what = `the proposal${found.flags.length > 0 ? ` for ${flagsOf(found)}` : ''}: ${found.reason}`;
  if (options.dryRun === true) return showPlanned(output, `Would withdraw ${what}`);
  await confirmOrRefuse(session, `Withdraw ${what}?`);
  const { reason } = options;
  const proposal = await api.post<Proposal>(`${pathOf(id)}/withdraw`, {}, { reason });
  output.json({ changed: true, proposal });
  output.line(`Withdrawn: ${id}`);
}

async function applyProposal(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const { at, reason } = options;
  if (at !== undefined) assertTime(at);
  const found = await api.get<Proposal>(pathOf(id));
  if (!(await confirmProposal(session, found))) return;
  const body = at === undefined ? {} : { at };
  const proposal = await api.change<Proposal>(`${pathOf(id)}/apply`, body, { reason });
  const { schedule, changeSet } = proposal;
  output.json({ changed: at === undefined && changeSet !== null, proposal });
  if (at !== undefined && schedule !== null) return tellSchedule(session, { at, id: schedule });
  if (found.rollout) {
    output.line(output.colors.green(`Started. To stop it: flags rollouts stop ${id}`));
  } else if (changeSet === null) output.line('Nothing has changed.');
  else output.line(output.colors.green(`Changed. To undo it: flags undo ${changeSet}`));
}

/** Shows what a proposal would do now, and asks for a confirmation if necessary. Returns whether to apply it. */
async function confirmProposal(session: CommandSession, proposal: Proposal): Promise<boolean> {
  const { api, output, options } = session;
  const changes = plannable(proposal);
  if (isPending(proposal) && changes.length > 0 && changes.length === proposal.changes.length) {
    const plan = await api.post<Plan>('/changes/plan', { changes });
    const documents = plan.documents.filter(({ events }) => events.length > 0);
    return confirmPlan(session, { ...plan, documents, deletions: deletionsIn(plan), json: { documents } });
  }
  const what = [...rolloutLines(proposal), ...(await policyLines(session, proposal)), proposal.reason].join('; ');
  if (options.dryRun === true) {
    showPlanned(output, `Would apply the proposal: ${what}`);
    return false;
  }
  await confirmOrRefuse(session, `Apply the proposal: ${what}?`);
  return true;
}
