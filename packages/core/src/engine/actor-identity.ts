import type { Token } from '../api/tokens.js';

/** Whom changes are attributed to. */
export interface ActorIdentity {
  /** Of any type: callers without types are refused when they change something. */
  readonly name: unknown;
  readonly token?: Pick<Token, 'id' | 'kind'>;
}

/** The same text for the same actor. */
export function actorKey(actor: string | Pick<Token, 'id' | 'name' | 'kind'>): string {
  if (typeof actor !== 'object' || actor === null) return JSON.stringify([actor]);
  const { name, id, kind } = actor;
  return JSON.stringify([name, id, kind]);
}

export function actorFromKey(key: string): ActorIdentity {
  const [name, id, kind] = JSON.parse(key);
  return typeof id === 'string' && typeof kind === 'string'
    ? { name, token: { id, kind: kind as Token['kind'] } }
    : { name };
}
