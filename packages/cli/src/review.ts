import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Change, Effect } from '@flags/core';
import { describeEffects, effectsToReview, hiddenToReview } from '@flags/core/admin';
import confirm from '@inquirer/confirm';
import { ApiError } from './connection.js';
import { describeEvent, type WireEvent } from './describe.js';
import { CommandError, EXIT, printable } from './output.js';
import { type CommandSession, namesIn, readEnvironments } from './session.js';

export interface WireEffects {
  readonly effects: readonly Effect[];
  /** The number of effects on flags that the caller may not read. */
  readonly hiddenEffects: number;
}

export interface WirePlan extends WireEffects {
  readonly documents: readonly {
    readonly kind: string;
    readonly id: string;
    readonly before: unknown;
    readonly after: unknown;
    readonly events: readonly WireEvent[];
  }[];
}

export interface WireChangeSet {
  readonly id: string | null;
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly events: readonly WireEvent[];
  readonly revisions: Readonly<Record<string, number>>;
}

/**
 * Shows the effects of changes, asks for a confirmation if necessary, and applies the changes as one change set.
 *
 * Writes `{ changed, changeSet }`, or `{ changed: false, documents, effects }` with `--dry-run`, for programs.
 *
 * @throws CommandError without a confirmation
 */
export async function applyReviewed(session: CommandSession, changes: readonly Change[]): Promise<void> {
  const { api, output, options } = session;
  const plan = await api.post<WirePlan>('/changes/plan', { changes });
  const { documents } = plan;
  const { effects, hiddenEffects } = effectsIn(session, plan);
  const lines = describePlan(plan);
  for (const line of [...lines, ...effectLines(session, effects)]) output.line(line);
  if (lines.length === 0) {
    output.line('Nothing to change.');
    output.json({ changed: false, documents: [] });
    return;
  }
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, documents, effects, hiddenEffects });
    return;
  }
  await confirmChange(session, { effects, hiddenEffects, deletions: deletionsIn(plan) });
  const changeSet = await applyOnce(session, changes);
  output.json({ changed: changeSet.id !== null, changeSet });
  output.line(output.colors.green(`Changed. To take it back: flags undo ${changeSet.id ?? ''}`));
}

/** Applies a change set. The id makes repetition safe, so the request is repeated once after a lost reply. */
async function applyOnce({ api, options }: CommandSession, changes: readonly Change[]): Promise<WireChangeSet> {
  const { reason } = options;
  const body = { id: randomUUID(), changes, ...(reason !== undefined && { reason }) };
  try {
    return await api.post<WireChangeSet>('/changes', body);
  } catch (error) {
    if (error instanceof ApiError && error.code !== 'outcome_unknown') throw error;
    return api.post<WireChangeSet>('/changes', body);
  }
}

/** The consequences of a change that require a confirmation. */
interface Consequences extends WireEffects {
  /** Documents that it deletes or archives, in words. */
  readonly deletions: readonly string[];
}

/** Asks for a confirmation if clients of a reviewed environment see a difference, or if a document is deleted. */
export async function confirmChange(session: CommandSession, consequences: Consequences): Promise<void> {
  const { effects, hiddenEffects, deletions } = consequences;
  const { environments } = await readEnvironments(session.api);
  const scope = { environments, reviewIn: namesIn(session.options.reviewIn) };
  const seen = effectsToReview(effects, scope);
  const hidden = hiddenToReview(hiddenEffects, scope) > 0 ? ['flags that you may not read'] : [];
  const subjects = [...new Set(seen.map(({ environment }) => environment)), ...hidden, ...deletions];
  if (subjects.length > 0) await confirmOrRefuse(session, `This changes ${subjects.join(', ')}. Go on?`);
}

/**
 * Returns the effects of an answer.
 *
 * @throws CommandError if the server does not send them: without them it is unknown whether the change needs a review
 */
export function effectsIn({ api }: CommandSession, answer: Partial<WireEffects>): WireEffects {
  const { effects, hiddenEffects = 0 } = answer;
  if (Array.isArray(effects)) return { effects, hiddenEffects };
  throw new CommandError(
    `${api.connection.name} does not say what clients would see. Update the server to release 0.3.`,
  );
}

/** Describes the effects on clients, with the reason of each. */
export function effectLines({ options: { reason } }: CommandSession, effects: readonly Effect[]): readonly string[] {
  const lines = describeEffects(effects).map((line) => `  ${line}`);
  if (lines.length === 0) return [];
  return ['clients', ...lines, ...(reason === undefined ? [] : [`reason ${reason}`])];
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
export function deletionsIn({ documents }: Pick<WirePlan, 'documents'>): readonly string[] {
  return documents
    .filter(({ after, before }) => after === null && before !== null)
    .map(({ kind, id }) => `${kind} ${id}`);
}

/** Describes a plan: one line per document, and one per fact. */
export function describePlan({ documents }: Pick<WirePlan, 'documents'>): readonly string[] {
  return documents
    .filter(({ events }) => events.length > 0)
    .flatMap(({ kind, id, events }) => [`${kind} ${id}`, ...events.map((event) => `  ${describeEvent(event)}`)]);
}
