import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Change } from '@flags/core';
import confirm from '@inquirer/confirm';
import { ApiError } from './connection.js';
import { describeEvent, type WireEvent } from './describe.js';
import { CommandError, EXIT, printable } from './output.js';
import { type CommandSession, listEnvironments, namesIn, reviewedEnvironment } from './session.js';

export interface WirePlan {
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
 * Shows what changes would do, asks for a confirmation where one is needed, and applies them as one change set.
 *
 * Writes `{ changed, changeSet }`, or `{ changed: false, documents }` with `--dry-run`, for programs.
 *
 * @throws CommandError if nobody confirms
 */
export async function applyReviewed(session: CommandSession, changes: readonly Change[]): Promise<void> {
  const { api, output, options } = session;
  const plan = await api.post<WirePlan>('/changes/plan', { changes });
  const lines = describePlan(plan);
  for (const line of lines) output.line(line);
  if (lines.length === 0) {
    output.line('Nothing to change.');
    output.json({ changed: false, documents: [] });
    return;
  }
  if (options.dryRun === true) {
    output.line('Nothing has changed: this is what the command would do.');
    output.json({ changed: false, documents: plan.documents });
    return;
  }
  await confirmChange(session, plan);
  const changeSet = await applyOnce(session, changes);
  output.json({ changed: changeSet.id !== null, changeSet });
  output.line(output.colors.green(`Changed. To take it back: flags undo ${changeSet.id ?? ''}`));
}

/** Applies a change set. The id makes a repetition safe, so one lost answer is asked for again. */
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

/** Asks for a confirmation if the plan touches an environment that needs one, or deletes a document. */
export async function confirmChange(session: CommandSession, plan: WirePlan): Promise<void> {
  const reviewed = await reviewedEnvironments(session);
  const touched = reviewed.filter((environment) => plan.documents.some((one) => isTouched(one, environment)));
  const subjects = [...touched, ...deletions(plan)];
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

/** Returns the environments whose changes need a confirmation. */
export async function reviewedEnvironments({ api, options }: CommandSession): Promise<readonly string[]> {
  return namesIn(options.reviewIn) ?? [reviewedEnvironment(await listEnvironments(api))];
}

/** Events without an environment that change evaluations in all of them. */
const EVERYWHERE = /^(feature-(variants|dependency|archived|revived|deleted|project-change)|segment-(updated|deleted))/;

/** Returns whether events change evaluations in an environment. */
export function isAffected(events: readonly WireEvent[], environment: string): boolean {
  return events.some((event) => event.environment === environment || EVERYWHERE.test(event.type));
}

/** A flag that is off in the environment stays off when its variants change. */
function isTouched({ kind, before, events }: WirePlan['documents'][number], environment: string): boolean {
  if (events.some((event) => event.environment === environment)) return true;
  if (!isAffected(events, environment)) return false;
  const { environments = [] } = Object(before) as WireFlagState;
  return kind !== 'flag' || environments.some(({ name, enabled }) => name === environment && enabled);
}

interface WireFlagState {
  readonly environments?: readonly { readonly name: string; readonly enabled: boolean }[];
}

function deletions({ documents }: WirePlan): readonly string[] {
  return documents
    .filter(({ after, before }) => after === null && before !== null)
    .map(({ kind, id }) => `${kind} ${id}`);
}

/** Describes a plan: one line per document, and one per fact. */
function describePlan({ documents }: WirePlan): readonly string[] {
  return documents
    .filter(({ events }) => events.length > 0)
    .flatMap(({ kind, id, events }) => [`${kind} ${id}`, ...events.map((event) => `  ${describeEvent(event)}`)]);
}
