import type { PlannedSet } from '../changesets/change-set.types.js';
import type { SharedEngine } from '../changesets/engine.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import { type ErrorCode, FlagsError, isFlagsError } from '../errors.js';
import { type IndexDocuments, writeIndexDocuments } from '../storage/index-writer.js';
import { tokenDocuments } from '../tokens/token.kind.js';
import { isCurrent } from '../tokens/token-verification.operations.js';
import type { ChangeAuthor, ScheduleFailure } from './schedule.js';
import type { AuthorizeDue } from './schedule.types.js';

/*
 * Schedules and rollouts share the checks of a set that is due: its author's token, the host's answer, and its errors.
 */

/** Milliseconds that a function of the host may take. */
const PATIENCE = 10_000;
export const DAY = 86_400_000;
/** The documents that the set ends or moves: they are no changes of their author. */
const CARRIED_OUT = ['schedule', 'rollout', 'proposal'];
/** Ended documents that one commit deletes. */
const PRUNED_AT_ONCE = 100;

/** Errors of this node or its storage. They say nothing about the changes, so those are tried again. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['storage_busy', 'storage_unavailable', 'outcome_unknown', 'too_much_contention'] as const),
  ...(['storage_unsupported', 'closed'] as const),
]);

/** Returns the refusal that an error is; undefined for an error of this node, of its storage, or of the host. */
export function refusalOf(error: unknown): ScheduleFailure | undefined {
  if (!isFlagsError(error) || TRANSIENT.has(error.code)) return undefined;
  const { code, message, details } = error;
  return { code, message, details: details.slice(0, 10) };
}

/** Whether an error says that the storage failed, so that the rest waits for the next poll. */
export function isStorageError(error: unknown): boolean {
  return isFlagsError(error) && error.code !== 'too_much_contention';
}

/** A change that somebody has planned for later. */
interface Planned {
  readonly author: ChangeAuthor;
  /** What it is, for messages. */
  readonly what: 'schedule' | 'rollout';
}

/** The commit checks the token: one that is deleted at the same moment makes it conflict. */
export async function assertAuthor(
  unit: ChangeSetUnit,
  { author: { name, token }, what }: Planned,
  now: Date,
): Promise<void> {
  if (!token) return;
  const found = await unit.read(tokenDocuments, token.id);
  if (found && isCurrent(found.state, now)) return;
  const message = `The API token ${name} that made the ${what} is deleted or expired; make it again with another one.`;
  throw new FlagsError('author_revoked', message);
}

/** Asks the host whether the author may still make the changes. Throws `forbidden` if not. */
export async function askDue(
  engine: Pick<SharedEngine, 'lifetime'>,
  { authorizeDue, author, what }: Planned & { readonly authorizeDue: AuthorizeDue | undefined },
  { documents, segmentUses }: PlannedSet,
): Promise<void> {
  const changed = documents.filter(({ kind }) => !CARRIED_OUT.includes(kind));
  if (!authorizeDue || changed.length === 0) return;
  const later = what === 'schedule' ? 'the schedule is tried again until notAfter' : 'the step is tried again';
  const asked = { name: 'authorizeDue', later };
  const answer = await askHost(engine, () => authorizeDue(author, { documents: changed, segmentUses }), asked);
  if (answer === false) throw new FlagsError('forbidden', `authorizeDue refused the changes of ${author.name}.`);
  if (answer !== true) throw new TypeError('authorizeDue must return true or false.');
}

/**
 * Asks a function of the host. Rejects with an error that is not a `FlagsError`: the host's failure is not the refusal of a
 * change.
 */
export async function askHost(
  { lifetime: { closing } }: Pick<SharedEngine, 'lifetime'>,
  ask: (signal: AbortSignal) => unknown,
  { name, later }: { readonly name: string; readonly later: string },
): Promise<unknown> {
  const asking = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let giveUp = (): void => undefined;
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = () => reject(new Error('the engine was closed'));
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE).unref();
    closing.addEventListener('abort', giveUp, { once: true });
    if (closing.aborted) giveUp();
  });
  try {
    return await Promise.race([Promise.resolve().then(() => ask(asking.signal)), tooLong]);
  } catch (cause) {
    throw new Error(`${name} failed (${String(cause)}); ${later}.`, { cause });
  } finally {
    clearTimeout(timer);
    closing.removeEventListener('abort', giveUp);
    asking.abort();
  }
}

interface Ended {
  readonly summary: { readonly id: string; readonly endedAt?: string | null };
}

interface Pruning<State> {
  readonly documents: IndexDocuments<State>;
  readonly ended: AsyncIterable<Ended>;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/** Deletes documents that ended long ago. Their events remain. */
export async function pruneEnded<State>(
  { storage }: Pick<SharedEngine, 'storage'>,
  { documents, ended, before }: Pruning<State>,
): Promise<void> {
  const oldest = new Date(before).toISOString();
  const old: string[] = [];
  for await (const { summary } of ended) {
    if (summary.endedAt && summary.endedAt < oldest) old.push(summary.id);
  }
  for (let first = 0; first < old.length; first += PRUNED_AT_ONCE) {
    const deletions = old.slice(first, first + PRUNED_AT_ONCE).map((id) => ({
      id,
      decide: (stored: State | undefined) => (stored ? null : undefined),
    }));
    await writeIndexDocuments(storage, documents, deletions);
  }
}
