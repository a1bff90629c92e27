import type { Person } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import type { ChangeAuthor } from '../../kernel/engine.js';

/**
 * Whether two authors are one person: by the ids that the host gives, otherwise by their names. A token counts as the
 * person who created it. Unicode has several forms of one name, so names are compared after NFKC and case folding.
 */
export function isSamePerson(one: ChangeAuthor, other: ChangeAuthor): boolean {
  const [first, second] = [personOf(one), personOf(other)];
  if (!first || !second) return one.token !== undefined && one.token.id === other.token?.id;
  if (first.id !== undefined && second.id !== undefined) return first.id === second.id;
  return foldName(first.name) === foldName(second.name);
}

/** Undefined for a token whose person is unknown. */
function personOf(author: ChangeAuthor): Person | undefined {
  return author.token ? author.person : author;
}

function foldName(name: string): string {
  // Upper case first: "ß" and "SS" are one name.
  return name.normalize('NFKC').trim().toUpperCase().toLowerCase();
}

/** Throws `forbidden` for an API token. */
export function assertPerson({ token }: Pick<ChangeAuthor, 'token'>, what: string): void {
  if (token) throw notByToken(what);
}

/** Returns the error for an API token that does what only people may do. */
export function notByToken(what: string): FlagsError {
  return new FlagsError('forbidden', `API tokens cannot ${what}; ask a person to do it.`);
}
