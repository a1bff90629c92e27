import { randomUUID } from 'node:crypto';
import type { Change } from '@flags/core';
import confirm from '@inquirer/confirm';
import { ApiError } from './api.js';
import { CommandError, EXIT } from './errors.js';
import { type CommandSession, defaultEnvironment, listEnvironments, namesIn } from './session.js';

/** An event of a plan, or of a change set, as the API sends it. */
export interface WireEvent {
  readonly type: string;
  readonly environment?: string | null;
  readonly data?: unknown;
  readonly preData?: unknown;
  readonly before?: unknown;
}

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
 * @throws CommandError if nobody confirms
 */
export async function applyReviewed(session: CommandSession, changes: readonly Change[]): Promise<void> {
  const { api, output, options } = session;
  const plan = await api.post<WirePlan>('/changes/plan', { changes });
  const lines = describePlan(plan);
  if (lines.length === 0) output.line('Nothing to change.');
  for (const line of lines) output.line(line);
  if (options.dryRun === true || lines.length === 0) {
    output.json({ changed: false, ...plan });
    return;
  }
  await confirmChange(session, plan);
  const set = await applyOnce(session, changes);
  output.json(set);
  output.line(output.colors.green(`Changed. To take it back: flags undo ${set.id ?? ''}`));
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
  const reasons = [...(await reviewedEnvironments(session, plan)), ...deletions(plan)];
  if (reasons.length > 0) await confirmOrRefuse(session, `This changes ${reasons.join(', ')}. Go on?`);
}

/** Asks a question on a terminal. Elsewhere only `--yes` confirms. */
export async function confirmOrRefuse({ io, options, output }: CommandSession, message: string): Promise<void> {
  if (options.yes === true) return;
  if (io.stdin.isTTY !== true || output.isJson) {
    throw new CommandError(`${message} Nobody is there to confirm: repeat the command with --yes.`, EXIT.unconfirmed);
  }
  const isConfirmed = await confirm({ message, default: false }, { input: io.stdin, output: io.stdout }).catch(() => false);
  if (!isConfirmed) throw new CommandError('Nothing has changed.', EXIT.unconfirmed);
}

async function reviewedEnvironments({ api, options }: CommandSession, plan: WirePlan): Promise<readonly string[]> {
  const touched = new Set(plan.documents.flatMap(({ events }) => events.map(({ environment }) => environment)));
  const reviewIn = namesIn(options.reviewIn) ?? [defaultEnvironment(await listEnvironments(api))];
  return reviewIn.filter((name) => touched.has(name));
}

function deletions({ documents }: WirePlan): readonly string[] {
  return documents.filter(({ after, before }) => after === null && before !== null).map(({ kind, id }) => `${kind} ${id}`);
}

/** Describes a plan: one line per document, and one per fact. */
export function describePlan({ documents }: WirePlan): readonly string[] {
  return documents
    .filter(({ events }) => events.length > 0)
    .flatMap(({ kind, id, events }) => [`${kind} ${id}`, ...events.map((event) => `  ${describeEvent(event)}`)]);
}

/** Describes an event in words, with the changed members of small objects. */
export function describeEvent(event: WireEvent): string {
  const { type, environment, data } = event;
  const before = event.preData ?? event.before ?? null;
  const place = environment == null ? '' : `${environment}: `;
  const fact = type.replace(/^feature-/, '').replaceAll('-', ' ');
  const changes = differences(before, data ?? null);
  return `${place}${fact}${changes === '' ? '' : ` (${changes})`}`;
}

const LONGEST = 60;

function differences(before: unknown, after: unknown): string {
  if (!isObject(before) && !isObject(after)) return '';
  const [old, current] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const names = [...new Set([...Object.keys(old), ...Object.keys(current)])];
  const changed = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(current[name]));
  return changed
    .filter((name) => !UNINTERESTING.has(name))
    .map((name) => (name in old ? `${name} ${short(old[name])} → ${short(current[name])}` : `${name} ${short(current[name])}`))
    .join(', ');
}

const UNINTERESTING = new Set(['id', 'createdAt', 'revision']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(value: unknown): string {
  const text = value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
