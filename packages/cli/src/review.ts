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
  nameStrategies,
} from '@flags/core/admin';
import type { ChangeSet, Plan } from '@flags/http/wire';
import confirm from '@inquirer/confirm';
import { CommandError, EXIT, printable } from './output.js';
import { type CommandSession, namesIn, readEnvironments } from './session.js';

/**
 * Plans changes, reviews them, and applies them as one change set.
 *
 * Writes `{ changed, changeSet }`, or `{ changed: false, documents, effects }` with `--dry-run`, for programs.
 *
 * @throws CommandError without a confirmation
 */
export async function applyReviewed(session: CommandSession, changes: readonly Change[]): Promise<void> {
  const { api, output } = session;
  const plan = await api.post<Plan>('/changes/plan', { changes });
  const { documents } = plan;
  const changed = documents.filter(({ events }) => events.length > 0);
  const deletions = deletionsIn(plan);
  if (!(await confirmPlan(session, { ...plan, documents: changed, deletions, json: { documents } }))) return;
  const { reason } = session.options;
  const changeSet = await api.change<ChangeSet>('/changes', { changes, ...(reason !== undefined && { reason }) });
  output.json({ changed: changeSet.id !== null, changeSet });
  output.line(output.colors.green(`Changed. To take it back: flags undo ${changeSet.id ?? ''}`));
}

/** A plan of changes, of an undo or of an import. */
interface Planned extends Partial<Effects> {
  readonly documents: readonly ComparedDocument[];
  /** Documents that it deletes or archives, in words. */
  readonly deletions: readonly string[];
  /** What `--dry-run` writes for programs, beside the effects. */
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
  const effects = await showPlan(session, planned, choices);
  if (documents.length === 0) {
    output.json({ changed: false, ...json });
    return false;
  }
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, ...json, ...effects });
    return false;
  }
  await confirmChange(session, { ...effects, deletions: planned.deletions });
  return true;
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
      `${api.connection.name} does not say what clients would notice. Update the server to release 0.3.`,
    );
  }
  const clients = describeEffects(effects).map((line) => `  ${line}`);
  const reason = options.reason === undefined ? [] : [`reason ${options.reason}`];
  const { ownStrategies } = await readEnvironments(api);
  const lines = [
    ...documentLines(documents, { ownStrategies }),
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
  { effects, hiddenEffects, deletions }: Effects & Pick<Planned, 'deletions'>,
): Promise<void> {
  const { environments } = await readEnvironments(session.api);
  const scope = { environments, reviewIn: namesIn(session.options.reviewIn) };
  const seen = effectsToReview(effects, scope);
  const hidden = hiddenToReview(hiddenEffects, scope) > 0 ? ['flags that you may not read'] : [];
  const subjects = [...new Set(seen.map(({ environment }) => environment)), ...hidden, ...deletions];
  if (subjects.length > 0) await confirmOrRefuse(session, `This changes ${subjects.join(', ')}. Go on?`);
}

/** Asks a question on a terminal. Elsewhere only `--yes` confirms. */
export async function confirmOrRefuse({ io, options }: CommandSession, message: string): Promise<void> {
  if (options.yes === true) return;
  if (io.stdin.isTTY !== true || options.json === true) {
    const text = `${message} Nobody is there to confirm. Nothing has changed. Repeat the command with --yes.`;
    throw new CommandError(text, EXIT.unconfirmed);
  }
  // The prompt ends its output.
  const output = new Writable({ write: (chunk, _encoding, done) => void io.stderr.write(chunk, done) });
  const question = confirm({ message: printable(message), default: false }, { input: io.stdin, output });
  if (!(await question.catch(() => false))) throw new CommandError('Nothing has changed.', EXIT.unconfirmed);
}

/** Returns the documents that a plan deletes. */
export function deletionsIn({ documents }: Pick<Plan, 'documents'>): readonly string[] {
  return documents
    .filter(({ after, before }) => after === null && before !== null)
    .map(({ kind, id }) => `${kind} ${id}`);
}

/**
 * Describes documents of a plan, a history or an import: one line per document, and one per difference.
 *
 * @param states other states that name the strategies of the documents, such as those of events
 * @param ownStrategies the host's own strategies; absent: nothing is called unknown
 */
export function documentLines(
  documents: readonly ComparedDocument[],
  { states = [], ownStrategies }: { readonly states?: readonly unknown[]; readonly ownStrategies?: readonly string[] },
): readonly string[] {
  const names = { strategies: nameStrategies(states), ownStrategies };
  return documents.flatMap((document) => [
    describeDocument(document),
    ...describeDifferences(document, names).map((difference) => `  ${differenceText(difference)}`),
  ]);
}
