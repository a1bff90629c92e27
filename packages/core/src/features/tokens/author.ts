import type { Awaitable } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import type { Lifetime } from '../../base/lifetime.js';
import { askHost } from '../../kernel/due/host.js';
import type { ChangeAuthor, UnitOfWork } from '../../kernel/engine.js';
import { tokenDocuments } from './token.kind.js';
import { isCurrent } from './token-verification.operations.js';

/*
 * Change requests and rollouts check whether their author may still do what is due.
 */

/** A due change that somebody has asked for. */
interface Due {
  readonly author: ChangeAuthor;
  /** What it is, for messages. */
  readonly what: 'change request' | 'rollout';
}

/**
 * Throws `author_revoked` if the author's token is gone or expired. The commit checks the token: one that is deleted at
 * the same moment makes it conflict.
 */
export async function assertAuthor(
  unit: Pick<UnitOfWork, 'read'>,
  { author: { name, token }, what }: Due,
  now: Date,
): Promise<void> {
  if (!token) return;
  const found = await unit.read(tokenDocuments, token.id);
  if (found && isCurrent(found.state, now)) return;
  const message = `The API token ${name} of the ${what} is deleted or expired; make the ${what} again with another one.`;
  throw new FlagsError('author_revoked', message);
}

interface DueQuestion<Plan> extends Due {
  /** The option `due.authorize`. */
  readonly authorize: ((author: ChangeAuthor, planned: Plan) => Awaitable<boolean>) | undefined;
}

/** Asks the host whether the author may still make due changes. Throws `forbidden` if not. */
export async function askDue<Plan extends { readonly documents: readonly unknown[] }>(
  engine: { readonly lifetime: Pick<Lifetime, 'closing'> },
  { authorize, author, what }: DueQuestion<Plan>,
  planned: Plan,
): Promise<void> {
  if (!authorize || planned.documents.length === 0) return;
  const later =
    what === 'rollout' ? 'the step is tried again' : 'the change request is tried again until its time has passed';
  const answer = await askHost(engine, () => authorize(author, planned), { name: 'due.authorize', later });
  if (answer === false) throw new FlagsError('forbidden', `due.authorize refused the changes of ${author.name}.`);
  if (answer !== true) throw new TypeError('due.authorize must return true or false.');
}
