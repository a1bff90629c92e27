import type { RequestedChange } from '@flags/core';
import type { ChangeRequest, ChangeRequestPage, ListedChangeRequest, Plan } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { ApiError } from '../api.js';
import { readDocument } from '../definition-documents.js';
import { CommandError, type CommandIo, showPlanned, usageError } from '../output.js';
import { AT, assertWays, isRequested, printRequest, requestChanges } from '../request-ways.js';
import { confirmOrRefuse, confirmPlan, type ReviewedPlan, showPlan, toReviewedPlan } from '../review.js';
import { type CommandSession, type CommonOptions, createAction, readAll, readEnvironments } from '../session.js';

type State = ListedChangeRequest['state'];

/** Whether a request in this state may still be applied. */
const STATES = {
  open: true,
  approved: true,
  applied: false,
  failed: false,
  rejected: false,
  withdrawn: false,
  expired: false,
} satisfies Record<State, boolean>;

const isPending = ({ state }: { readonly state: State }) => STATES[state];

interface ListOptions extends CommonOptions {
  readonly state: State | 'pending' | 'all';
  readonly flag?: string;
}

interface NewOptions extends CommonOptions {
  readonly replaces?: string;
}

/** Adds the commands for change requests. Other commands make them with `--at` and `--request`; people approve on the page. */
export function addRequestCommands(program: Command, io: CommandIo): void {
  const requests = program.command('requests').description('list, show, make, apply and withdraw change requests');
  requests
    .command('list', { isDefault: true })
    .description('list change requests, by time')
    .addOption(
      new Option('--state <state>', 'the state; pending: open or approved')
        .choices([...Object.keys(STATES), 'pending', 'all'])
        .default('pending'),
    )
    .option('--flag <flag>', 'only requests about this flag')
    .action(createAction(io, listRequests));
  requests
    .command('show')
    .description('show what a request would change now, and who has approved it')
    .argument('<id>')
    .action(createAction(io, showRequest));
  requests
    .command('create')
    .description('request the changes of a file, to be applied in one change set')
    .argument('<file>', 'YAML or JSON; a list of changes: [{ op, ref, input }]; - for standard input')
    .option(...AT)
    .option('--replaces <id>', 'the request that this one replaces, which is withdrawn')
    .action(createAction(io, createRequest));
  requests
    .command('apply')
    .description('apply an approved request now, or at a time')
    .argument('<id>')
    .option(...AT)
    .action(createAction(io, applyRequest));
  requests
    .command('withdraw')
    .description('take a request back')
    .argument('<id>')
    .action(createAction(io, withdrawRequest));
}

function pathOf(id: string): string {
  // Without an id it would be the path of the list.
  if (id === '') throw usageError('Name the request by its id, which flags requests lists.');
  return `/change-requests/${encodeURIComponent(id)}`;
}

async function listRequests({ api, output, options }: CommandSession<ListOptions>): Promise<void> {
  const { state, flag, project } = options;
  const query = { state: state === 'pending' || state === 'all' ? undefined : state, flag, project };
  const all = await readAll(api, '/change-requests', query, (page: ChangeRequestPage) => page.changeRequests);
  const timeOf = ({ at, createdAt }: ListedChangeRequest) => Date.parse(at ?? createdAt);
  const found = all
    .filter((one) => state !== 'pending' || isPending(one))
    .sort((one, other) => timeOf(one) - timeOf(other));
  output.json(found);
  if (found.length === 0) {
    return output.line(state === 'all' ? 'There are no change requests.' : `No change request is ${state}.`);
  }
  output.table(
    ['State', 'Approvals', 'At', 'Flags', 'Environments', 'Author', 'Reason', 'Id'],
    found.map((one) => [
      one.failure === null ? one.state : `${one.state}: ${one.failure.message}`,
      one.required === 0 ? '' : `${countCurrent(one)} of ${one.required}`,
      one.at ?? '',
      flagsOf(one),
      one.environments.join(', '),
      one.author.name,
      one.reason ?? '',
      one.id,
    ]),
  );
}

function flagsOf({ flags }: Pick<ListedChangeRequest, 'flags'>): string {
  return flags.map(({ flag }) => flag).join(', ');
}

function countCurrent({ approvals }: Pick<ListedChangeRequest, 'approvals'>): number {
  return approvals.filter(({ current }) => current).length;
}

async function showRequest(session: CommandSession, id: string): Promise<void> {
  const { api, output } = session;
  const request = await api.get<ChangeRequest>(pathOf(id));
  output.json(request);
  const { state, author, createdAt, reason, at, notAfter, expiresAt, approvals, required, effect } = request;
  output.line(`${output.colors.bold(state)}  ${author.name}, ${createdAt}${reason === null ? '' : `: ${reason}`}`);
  if (isPending(request)) await showRequested(session, request);
  else for (const change of request.changes) output.line(`  ${describeChange(change)}`);
  if (required > 0 || approvals.length > 0) output.line(`approvals ${countCurrent(request)} of ${required}`);
  for (const { actor, at: when, reason: why, current } of approvals) {
    const note = current ? '' : ' (does not count: the request would do something else now)';
    output.line(`  ${actor}, ${when}${why === null ? '' : `: ${why}`}${note}`);
  }
  // The effect, which an approval through the API names.
  if (isPending(request) && required > 0 && effect !== null) output.line(`effect ${effect}`);
  if (at !== null) output.line(`at ${at}, until ${notAfter}, by ${request.appliedBy?.name}`);
  else if (isPending(request)) output.line(`expires ${expiresAt}`);
  if (request.changeSet !== null) output.line(`change set ${request.changeSet}`);
  if (request.failure !== null) output.line(`refused: ${request.failure.message}`);
}

/** Shows what a request would do now, or why it would be refused. */
async function showRequested(session: CommandSession, { changes, approval }: ChangeRequest): Promise<void> {
  try {
    const planned = await planRequested(session, changes);
    // Changes without a difference now may have one after other requests.
    const isNothing = planned.documents.length === 0 && planned.subjects.length === 0;
    for (const change of isNothing ? changes : []) session.output.line(`  ${describeChange(change)}`);
    await showPlan(session, { ...planned, approval });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    for (const change of changes) session.output.line(`  ${describeChange(change)}`);
    session.output.line(`It would be refused now: ${error.message}`);
  }
}

/** Such as `enable checkout in production`, for changes that are no longer planned. */
function describeChange(change: Requested): string {
  const { op, ref = {} } = change as { readonly op: string; readonly ref?: Readonly<Record<string, unknown>> };
  const { flag, environment, segment, project, changeSet } = ref;
  const subject = flag ?? segment ?? changeSet ?? project;
  const place = environment === undefined ? '' : ` in ${environment}`;
  return `${op}${subject === undefined ? '' : ` ${subject}`}${place}`;
}

/** A change of a request, or of a file: then the server has not validated it yet. */
type Requested = RequestedChange<string>;
type PolicyChange = Extract<Requested, { readonly op: 'setApprovalPolicy' }>;

const isPolicy = (change: Requested): change is PolicyChange => Object(change).op === 'setApprovalPolicy';

/** Plans the changes of a request, as they would be now. */
async function planRequested(session: CommandSession, changes: readonly Requested[]): Promise<ReviewedPlan> {
  const { api } = session;
  const [{ op, ref } = { op: undefined, ref: undefined }] = changes.map(Object);
  if (changes.length === 1 && op === 'undoChangeSet') {
    return toReviewedPlan(await api.post<Plan>(`/changes/${encodeURIComponent(Object(ref).changeSet)}/undo/plan`));
  }
  const policies = changes.filter(isPolicy);
  const others = changes.filter((change) => !isPolicy(change));
  const plan =
    policies.length > 0 && others.length === 0 ? NOTHING : await api.post<Plan>('/changes/plan', { changes: others });
  const planned = toReviewedPlan(plan);
  if (policies.length === 0) return planned;
  const { environments: known } = await readEnvironments(api);
  return {
    ...planned,
    subjects: [...planned.subjects, 'the approval policy'],
    notes: [...(planned.notes ?? []), ...policies.map(({ input }) => describePolicy(input, known))],
  };
}

const NOTHING: Plan = { documents: [], effects: [], hiddenEffects: 0, approval: null };

function describePolicy(policy: PolicyChange['input'], known: readonly string[]): string {
  const environments = Object.entries(Object(Object(policy).environments)).map(([name, one]) => {
    return `${name} ${Object(one).required}${known.includes(name) ? '' : ' (unknown here)'}`;
  });
  return `approval policy: ${environments.length === 0 ? 'no environment' : environments.join(', ')}`;
}

/** A person applies it, unless `--at` names a time. */
async function createRequest(session: CommandSession<NewOptions>, file: string): Promise<void> {
  const changes = await readDocument(session.io, file);
  if (!Array.isArray(changes)) throw usageError(`${file} has no list of changes: [{ op, ref, input }].`);
  const requested = { ...session, options: { ...session.options, request: true } };
  assertWays(requested.options);
  const { replaces } = session.options;
  if (await confirmPlan(requested, await planRequested(session, changes))) {
    await requestChanges(requested, changes, { replaces });
  }
}

async function applyRequest(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  assertWays(options);
  const { at, reason } = options;
  const found = await api.get<ChangeRequest>(pathOf(id));
  // The API says why a request that has ended cannot be applied.
  if (isPending(found)) {
    const planned = await planRequested(session, found.changes);
    const approval = found.state === 'open' ? found.approval : null;
    const advice = `The request has ${countCurrent(found)}: ask for approval on the admin page.`;
    if (!(await confirmPlan(session, { ...planned, approval, advice }))) return;
  } else if (options.dryRun === true) throw new CommandError(`The change request ${id} is ${found.state}.`);
  const body = at === undefined ? {} : { at };
  const request = await api.change<ChangeRequest>(`${pathOf(id)}/apply`, body, { reason });
  const { changeSet } = request;
  output.json({ changed: changeSet !== null, request });
  if (isRequested(options)) printRequest(session, request);
  else if (changeSet === null) output.line('Nothing has changed.');
  else output.line(output.colors.green(`Changed. To undo it: flags undo ${changeSet}`));
}

async function withdrawRequest(session: CommandSession, id: string): Promise<void> {
  const { api, output, options } = session;
  const found = await api.get<ChangeRequest>(pathOf(id));
  const about = found.flags.length > 0 ? ` for ${flagsOf(found)}` : '';
  const what = `the request${about}${found.reason === null ? '' : `: ${found.reason}`}`;
  if (options.dryRun === true) return showPlanned(output, `Would withdraw ${what}`);
  await confirmOrRefuse(session, `Withdraw ${what}?`);
  const { reason } = options;
  const request = await api.post<ChangeRequest>(`${pathOf(id)}/withdraw`, {}, { reason });
  output.json({ changed: true, request });
  output.line(`Withdrawn: ${id}`);
}
