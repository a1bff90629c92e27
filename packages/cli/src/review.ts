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
  rolloutsEndedBy,
} from '@flags/core/admin';
import type { ChangeSet, Plan } from '@flags/http/wire';
import confirm from '@inquirer/confirm';
import type { Api } from './api.js';
import { CommandError, EXIT, oneLine } from './output.js';
import { assertApproved, assertWays, describeApproval, isRequested, requestChanges } from './request-ways.js';
import { type CommandSession, readEnvironments, readSegmentNames, reviewedIn } from './session.js';

interface ReviewChoices {
  /** Whether a later undo restores what the changes change. Default: true. */
  readonly isUndoable?: boolean;
}

/**
 * Plans changes, reviews them, and applies them as one change set. With `--at` or `--request`, it requests them.
 *
 * Writes for programs `{ changed, changeSet }`, or `{ changed: false }` with `request` for `--at` and `--request`, and
 * `documents`, `effects` and `approval` for `--dry-run`. Returns whether the changes are applied.
 *
 * @throws CommandError without a confirmation
 */
export async function applyReviewed(
  session: CommandSession,
  changes: readonly Change[],
  { isUndoable = true }: ReviewChoices = {},
): Promise<boolean> {
  const { api, output, options } = session;
  assertWays(options);
  const plan = await api.post<Plan>('/changes/plan', { changes });
  if (!(await confirmPlan(session, toReviewedPlan(plan)))) return false;
  if (isRequested(options)) {
    await requestChanges(session, changes);
    return false;
  }
  const { reason, bypassApproval } = options;
  const body = { changes, ...(reason !== undefined && { reason }) };
  const changeSet = await api.change<ChangeSet>('/changes', body, { bypassApproval });
  output.json({ changed: changeSet.id !== null, changeSet });
  if (isUndoable) output.line(output.colors.green(`Changed. To undo it: flags undo ${changeSet.id ?? ''}`));
  return true;
}

/** Returns the plan of a change set, without documents that stay as they are. */
export function toReviewedPlan(plan: Plan): ReviewedPlan {
  const documents = plan.documents.filter(({ events }) => events.length > 0);
  const ends = rolloutsEndedBy(documents).map(describeEnd);
  return {
    ...plan,
    documents,
    subjects: deletionsIn(plan),
    notes: [...new Set(ends)],
    notesOfRequest: documents.some(mayEndRollouts)
      ? ['when applied, ends every rollout of the strategies that it changes']
      : [],
    json: { documents: plan.documents },
  };
}

/** Says that a change ends a rollout. */
export function describeEnd({ flag, environment }: { readonly flag: string; readonly environment: string }): string {
  return `ends the rollout of ${flag} in ${environment}`;
}

/** Whether a change of a flag ends the rollouts that run when it is applied. Steps, pauses and resumes do not. */
function mayEndRollouts({ before, events }: Plan['documents'][number]): boolean {
  const isMove = events.some(({ type, data }) => type.startsWith('rollout-') && Object(data).reason !== 'changed');
  const isOfStrategies = events.some(({ type, environment }) => environment !== null || GONE.test(type));
  return before !== null && isOfStrategies && !isMove;
}

/** A flag that leaves its project, or its clients. */
const GONE = /^feature-(archived|deleted|project-change)$/;

/** A plan of changes, of an undo, of a request or of an import. */
export interface ReviewedPlan extends Partial<Effects> {
  readonly documents: readonly ComparedDocument[];
  /** What needs a confirmation beside the effects on clients, in words, such as documents that are deleted or archived. */
  readonly subjects: readonly string[];
  /** Further consequences, in words. */
  readonly notes?: readonly string[];
  /** The notes of a request, which is applied later. */
  readonly notesOfRequest?: readonly string[];
  /** The approval that it needs; null or absent if it needs none. */
  readonly approval?: Plan['approval'];
  /** How to get the approval. Default: by a request. */
  readonly advice?: string;
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
 * @throws CommandError without a confirmation, or without the approval that it needs
 */
export async function confirmPlan(
  session: CommandSession,
  planned: ReviewedPlan,
  choices?: ShowChoices,
): Promise<boolean> {
  const { documents, subjects, approval = null, json } = planned;
  const { output, options } = session;
  const scope = await readReviewScope(session);
  const effects = await showPlan(session, planned, choices);
  // Changes without a difference now may have one later, after other changes.
  const isNothing = documents.length === 0 && subjects.length === 0;
  if (isNothing && !isRequested(options)) {
    output.json({ changed: false, ...json });
    return false;
  }
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, ...json, ...effects, approval });
    return false;
  }
  assertApproved(session, approval, planned.advice);
  // A request without a time changes nothing by itself.
  if (isRequested(options) && options.at === undefined) return true;
  if (isNothing) await confirmOrRefuse(session, 'Nothing would change now. Request it for later?');
  else await confirmChange(session, { ...effects, subjects, scope });
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
 * Shows the differences of a plan, its effects on clients, what else it does, and the approval that it needs. Returns the
 * effects.
 *
 * @throws CommandError if the server does not send them: without them it is unknown whether the change needs a review
 */
export async function showPlan(
  { api, output, options }: CommandSession,
  planned: Omit<ReviewedPlan, 'subjects' | 'json'>,
  { markdown = false }: ShowChoices = {},
): Promise<Effects> {
  const { documents, effects, hiddenEffects = 0, notes = [], notesOfRequest = [], approval } = planned;
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
    ...notes,
    ...(isRequested(options) ? notesOfRequest : []),
    ...(clients.length > 0 ? ['clients', ...clients, ...reason] : []),
    ...(approval ? [`needs ${describeApproval(approval)}`] : []),
  ];
  if (documents.length === 0 && notes.length === 0) output.line('Nothing to change.');
  if (lines.length > 0 && markdown) output.fenced(lines);
  else for (const line of lines) output.line(line);
  return { effects, hiddenEffects };
}

/** Asks for a confirmation if clients of a reviewed environment see a difference, or for other subjects. */
async function confirmChange(
  session: CommandSession,
  {
    effects,
    hiddenEffects,
    subjects,
    scope,
  }: Effects & Pick<ReviewedPlan, 'subjects'> & { readonly scope: ReviewScope },
): Promise<void> {
  const seen = effectsToReview(effects, scope);
  const hidden = hiddenToReview(hiddenEffects, scope) > 0 ? ['flags that you may not read'] : [];
  const all = [...new Set(seen.map(({ environment }) => environment)), ...hidden, ...subjects];
  const { at } = session.options;
  const when = at === undefined ? 'now' : `at ${at}`;
  if (all.length > 0) await confirmOrRefuse(session, `This changes ${all.join(', ')} ${when}. Go on?`);
}

/** Asks a question on a terminal. Elsewhere only `--yes` confirms. */
export async function confirmOrRefuse({ io, options }: CommandSession, message: string): Promise<void> {
  if (options.yes === true) return;
  if (io.stdin.isTTY !== true || options.json === true) {
    const cause = options.json === true ? 'With --json, no command asks' : 'The input is not a terminal';
    const text = `${message} ${cause}, so nobody can confirm. Nothing has changed. Repeat the command with --yes.`;
    throw new CommandError(text, EXIT.unconfirmed);
  }
  // Ends the output when the prompt ends.
  const output = new Writable({ write: (chunk, _encoding, done) => void io.stderr.write(chunk, done) });
  const question = confirm({ message: oneLine(message), default: false }, { input: io.stdin, output });
  if (!(await question.catch(() => false))) throw new CommandError('Nothing has changed.', EXIT.unconfirmed);
}

/** Returns the documents that a plan deletes. */
function deletionsIn({ documents }: Pick<Plan, 'documents'>): readonly string[] {
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
