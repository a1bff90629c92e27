import { FlagsError } from '../errors.js';
import type { ChangeAuthor } from '../schedules/schedule.js';

/**
 * Whether two authors are one person: by the ids that the host gives, otherwise by their names. Unicode has several forms
 * of one name, so names are compared after NFKC and case folding.
 */
export function isSamePerson(one: ChangeAuthor, other: ChangeAuthor): boolean {
  if (one.token || other.token) return one.token?.id === other.token?.id;
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  return foldName(one.name) === foldName(other.name);
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
