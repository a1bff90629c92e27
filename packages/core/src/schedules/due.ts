import type { PlannedSet } from '../changesets/change-set.types.js';
import type { SharedEngine } from '../changesets/engine.js';
import type { UnitOfWork } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import { askHost } from '../kernel/due/host.js';
import { type IndexDocuments, writeIndexDocuments } from '../storage/index-writer.js';
import { tokenDocuments } from '../tokens/token.kind.js';
import { isCurrent } from '../tokens/token-verification.operations.js';
import type { ChangeAuthor } from './schedule.js';
import type { AuthorizeDue } from './schedule.types.js';

/*
 * Schedules and rollouts share the checks of a set that is due: its author's token, the host's answer, and its errors.
 */

export const DAY = 86_400_000;
/** The documents that the set ends or moves: they are no changes of their author. */
const CARRIED_OUT = ['schedule', 'proposal'];
/** Ended documents that one commit deletes. */
const PRUNED_AT_ONCE = 100;

/** A change that somebody has planned for later. */
interface Planned {
  readonly author: ChangeAuthor;
  /** What it is, for messages. */
  readonly what: 'schedule' | 'rollout';
}

/** The commit checks the token: one that is deleted at the same moment makes it conflict. */
export async function assertAuthor(
  unit: Pick<UnitOfWork, 'read'>,
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
