import type { FlagsError } from '@flags/core';
import { Refusal } from './refusal.js';

export interface MemberMessage {
  readonly msg: string;
}

/** The body of a 400 from a member endpoint. Its texts are part of the contract. */
export function memberMessages(error: FlagsError | Refusal, project: string): readonly MemberMessage[] {
  if (error instanceof Refusal) return [{ msg: error.message }];
  if (error.code === 'member_exists') return [{ msg: `User already has access to project=${project}` }];
  if (error.code === 'last_owner') return [{ msg: 'A project must have at least one owner.' }];
  return error.details.map(({ path, message }) => ({ msg: path ? `${path} ${message}` : message }));
}
