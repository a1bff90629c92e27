import { Writable } from 'node:stream';
import type { Change } from '@flags/core';
import {
  type ComparedDocument,
  describeDifferences,
  describeDocument,
  describeEffects,
  differenceText,
  effectsToReview,
  hiddenToReview,
  type Names,
  nameStrategies,
  type ReviewScope,
} from '@flags/core/admin';
import type { ChangeSet, Plan, Proposal, Schedule } from '@flags/http/wire';
import confirm from '@inquirer/confirm';
import type { Api } from './connection.js';
import { CommandError, EXIT, oneLine, usageError } from './output.js';
import { type CommandSession, type CommonOptions, readEnvironments, readSegmentNames, reviewedIn } from './session.js';

/** The options of every command that applies reviewed changes. */
export const AT = ['--at <time>', 'apply the changes then: 2030-05-01T09:00:00+02:00, with an offset or Z'] as const;
export const PROPOSE = ['--propose', 'propose the changes, for the approval of somebody else'] as const;
/** Also of undo and import. */
export const BYPASS = ['--bypass-approval <reason>', 'do without the approval that the changes need'] as const;

/**
 * Plans changes, reviews them, and applies them as one change set, with `--at` at a time. With `--propose`, it keeps them
 * for the approval of others.
 *
 * Writes for programs `{ changed, changeSet }`, or `{ changed: false }` with `schedule` for `--at`, `proposal` for
 * `--propose`, and `documents` and `effects` for `--dry-run`.
 *
 * @throws CommandError without a confirmation
 */
export async function applyReviewed(session: CommandSession, changes: readonly Change[]): Promise<void> {
  const { api, output } = session;
  const { at, reason, bypassApproval } = session.options;
  if (at !== undefined) assertTime(at);
  assertWays(session.options);
  const plan = await api.post<Plan>('/changes/plan', { changes });
  const { documents } = plan;
  const changed = documents.filter(({ events }) => events.length > 0);
  const deletions = deletionsIn(plan);
  if (!(await confirmPlan(session, { ...plan, documents: changed, deletions, json: { documents } }))) return;
  if (session.options.propose === true) return propose(session, { changes });
  if (at !== undefined) return schedule(session, { changes, at, ...(reason !== undefined && { reason }) });
  const body = { changes, ...(reason !== undefined && { reason }) };
  const changeSet = await api.change<ChangeSet>('/changes', body, { bypassApproval });
  output.json({ changed: changeSet.id !== null, changeSet });
  output.line(output.colors.green(`Changed. To undo it: flags undo ${changeSet.id ?? ''}`));
}

/**
 * Checks that the options name one way.
 *
 * @throws CommandError
 */
export function assertWays({ at, propose: isProposed, reason, bypassApproval }: CommonOptions): void {
  if (isProposed !== true) return;
  if (!reason?.trim()) throw usageError('--propose needs --reason: those who approve read it.');
  if (bypassApproval !== undefined) throw usageError('Choose --propose or --bypass-approval, but not both.');
  if (at === undefined) return;
  throw usageError('Choose the time when you apply the proposal: flags proposals apply ID --at TIME.');
}

/** Keeps changes, or a rollout, for the approval of others. */
export async function propose({ api, output, options }: CommandSession, body: object): Promise<void> {
  const proposal = await api.change<Proposal>('/proposals', { ...body, reason: options.reason });
  const { id, state, required } = proposal;
  output.json({ changed: false, proposal });
  output.line(output.colors.green(`Proposed: ${id}`));
  const who = required === 1 ? 'Somebody else' : `${required} others`;
  output.line(state === 'open' ? `${who} must approve it on the admin page.` : 'It needs no approval.');
  output.line(`To apply it then: flags proposals apply ${id}. To take it back: flags proposals withdraw ${id}`);
}

/** A local time would mean another one on the server. */
export function assertTime(at: string): void {
  if (/^\d{4}-\d{2}-\d{2}[T ].*(?:Z|[+-]\d{2}:?\d{2})$/i.test(at) && !Number.isNaN(Date.parse(at))) return;
  throw usageError(`--at is a time with Z or an offset, such as 2030-05-01T09:00:00+02:00, not ${at}.`);
}

async function schedule({ api, output, options }: CommandSession, body: object): Promise<void> {
  const { bypassApproval } = options;
  const made = await api.change<Schedule>('/schedules', body, { bypassApproval });
  output.json({ changed: false, schedule: made });
  tellSchedule({ api, output }, made);
}

/** Says when a schedule applies its changes, and how to prevent it. */
export function tellSchedule({ api, output }: Pick<CommandSession, 'api' | 'output'>, { at, id }: TimedSchedule): void {
  output.line(output.colors.green(`Scheduled for ${at}. To cancel it: flags schedules cancel ${id}`));
  if (api.connection.flags) output.line('A service on this store with runSchedules: true must run then.');
}

type TimedSchedule = Pick<Schedule, 'at' | 'id'>;

/** A plan of changes, of an undo or of an import. */
interface Planned extends Partial<Effects> {
  readonly documents: readonly ComparedDocument[];
  /** Documents that it deletes or archives, in words. */
  readonly deletions: readonly string[];
  /** The output of `--dry-run` for programs, beside the effects. */
  readonly json: object;
}

export interface ShowChoices {
  /** Shows the plan in a fenced block. */
  readonly markdown?: boolean;
}

/**
 * Shows a plan with its effects on clients, and asks for a confirmation if necessary. Returns whether to apply it.
 *
 * @throws CommandError without a confirmation
 */
export async function confirmPlan(session: CommandSession, planned: Planned, choices?: ShowChoices): Promise<boolean> {
  const { documents, json } = planned;
  const { output, options } = session;
  const scope = await readReviewScope(session);
  const effects = await showPlan(session, planned, choices);
  // Changes that change nothing now may do so later, after other schedules.
  if (documents.length === 0 && options.at === undefined) {
    output.json({ changed: false, ...json });
    return false;
  }
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, ...json, ...effects });
    return false;
  }
  // A proposal changes nothing.
  if (options.propose === true) return true;
  if (documents.length === 0) await confirmOrRefuse(session, 'Nothing would change now. Schedule it for later?');
  else await confirmChange(session, { ...effects, deletions: planned.deletions, scope });
  return true;
}

/** Reads the reviewed environments, before the plan is shown: a name in the options may be wrong. */
async function readReviewScope({ api, options }: CommandSession): Promise<ReviewScope> {
  const { environments } = await readEnvironments(api);
  return { environments, reviewIn: reviewedIn(options, environments) };
}

/** The differences that clients would notice. */
export type Effects = Pick<Plan, 'effects' | 'hiddenEffects'>;

/**
 * Shows the differences of a plan and its effects on clients, and returns the effects.
 *
 * @throws CommandError if the server does not send them: without them it is unknown whether the change needs a review
 */
export async function showPlan(
  { api, output, options }: CommandSession,
  { documents, effects, hiddenEffects = 0 }: Pick<Planned, 'documents' | keyof Effects>,
  { markdown = false }: ShowChoices = {},
): Promise<Effects> {
  if (!Array.isArray(effects)) {
    throw new CommandError(
      `${api.connection.name} does not say what clients would notice. Is it the flags API, in a version that fits this command?`,
    );
  }
  const clients = describeEffects(effects).map((line) => `  ${line}`);
  const reason = options.reason === undefined ? [] : [`reason ${options.reason}`];
  const names = await readNames(api, { documents });
  const { ownStrategies } = await readEnvironments(api);
  const lines = [
    ...documentLines(documents, { ...names, ownStrategies }),
    ...(clients.length > 0 ? ['clients', ...clients, ...reason] : []),
  ];
  if (documents.length === 0) output.line('Nothing to change.');
  else if (markdown) output.fenced(lines);
  else for (const line of lines) output.line(line);
  return { effects, hiddenEffects };
}

/** Asks for a confirmation if clients of a reviewed environment see a difference, or if a document is deleted. */
async function confirmChange(
  session: CommandSession,
  { effects, hiddenEffects, deletions, scope }: Effects & Pick<Planned, 'deletions'> & { readonly scope: ReviewScope },
): Promise<void> {
  const seen = effectsToReview(effects, scope);
  const hidden = hiddenToReview(hiddenEffects, scope) > 0 ? ['flags that you may not read'] : [];
  const subjects = [...new Set(seen.map(({ environment }) => environment)), ...hidden, ...deletions];
  const { at } = session.options;
  const when = at === undefined ? '' : ` at ${at}`;
  if (subjects.length > 0) await confirmOrRefuse(session, `This changes ${subjects.join(', ')}${when}. Go on?`);
}

/** Asks a question on a terminal. Elsewhere only `--yes` confirms. */
export async function confirmOrRefuse({ io, options }: CommandSession, message: string): Promise<void> {
  if (options.yes === true) return;
  if (io.stdin.isTTY !== true || options.json === true) {
    const cause = options.json === true ? 'With --json, no command asks' : 'The input is not a terminal';
    const text = `${message} ${cause}, so nobody can confirm. Nothing has changed. Repeat the command with --yes.`;
    throw new CommandError(text, EXIT.unconfirmed);
  }
  // The prompt ends its output.
  const output = new Writable({ write: (chunk, _encoding, done) => void io.stderr.write(chunk, done) });
  const question = confirm({ message: oneLine(message), default: false }, { input: io.stdin, output });
  if (!(await question.catch(() => false))) throw new CommandError('Nothing has changed.', EXIT.unconfirmed);
}

/** Returns the documents that a plan deletes. */
export function deletionsIn({ documents }: Pick<Plan, 'documents'>): readonly string[] {
  return documents
    .filter(({ after, before }) => after === null && before !== null)
    .map((document) => titleOf(document, { segment: () => segmentNameIn(document) }));
}

interface Described {
  readonly documents: readonly ComparedDocument[];
  /** Other states that name the strategies of the documents, such as those of events. */
  readonly states?: readonly unknown[];
}

/** Reads the names of the segments and strategies that documents refer to by id. */
export async function readNames(api: Api, { documents, states = [] }: Described): Promise<Names> {
  // Most changes concern no segments, and need no request.
  const stored = REFERS_TO_SEGMENTS.test(JSON.stringify(documents)) ? await readSegmentNames(api) : new Map();
  // Segments that the plan creates, or that were deleted since.
  const own = documents.filter(({ kind }) => kind === 'segment').map((one) => [Number(one.id), segmentNameIn(one)]);
  const names: ReadonlyMap<number, string | undefined> = new Map([...own, ...stored] as [number, string | undefined][]);
  const segment = (id: number) => names.get(id);
  return { strategies: nameStrategies(states, segment), segment };
}

/** A segment itself, a strategy with segments, or a difference of those. */
const REFERS_TO_SEGMENTS = /"kind":"segment"|"segments":\[\d|\/segments"/;

function segmentNameIn(document: ComparedDocument): string | undefined {
  const whole = 'parts' in document ? document.parts.find(({ path }) => path === '') : document;
  const { name } = Object(whole?.after ?? whole?.before) as { readonly name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/** Titles a document: "flag checkout", "segment Beta testers". */
function titleOf(document: ComparedDocument, names: Names): string {
  return document.kind === 'segment'
    ? `segment ${names.segment?.(Number(document.id)) ?? document.id}`
    : describeDocument(document);
}

/** Describes documents of a plan, a history or an import: one line per document, and one per difference. */
export function documentLines(documents: readonly ComparedDocument[], names: Names): readonly string[] {
  return documents.flatMap((document) => [
    titleOf(document, names),
    ...describeDifferences(document, names).map((difference) => `  ${differenceText(difference)}`),
  ]);
}
