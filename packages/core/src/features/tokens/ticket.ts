import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Token } from './token.types.js';

/** Milliseconds: 12 hours. All tickets of a token in one window are the same. */
const WINDOW = 43_200_000;
/** In characters. A longer address is refused by proxies. */
const LONGEST = 4000;

/** What a ticket says of its token. */
export type TicketToken = Pick<Token, 'id' | 'kind' | 'environment' | 'projects'>;

/** The token whose key has signed a ticket. */
export interface TicketSigner {
  readonly id: string;
  /** SHA-256 of the secret in hexadecimal. */
  readonly hash: string;
}

/**
 * A ticket stands in an address in place of the secret of a token, because the `EventSource` of a browser sends no headers.
 * It is valid in its window of time and in the next one.
 */
export interface Ticket {
  readonly token: TicketToken;
  /** The id of the signer: the token itself, or that of the follower that has made the ticket. */
  readonly signer: string;
  isSignedWith(hash: string): boolean;
}

/** Returns the ticket of a token at a time, in milliseconds since 1970; undefined for a token of too many projects. */
export function createTicket(token: TicketToken, { id, hash }: TicketSigner, now: number): string | undefined {
  const { kind, environment, projects } = token;
  const content = [windowOf(now), token.id, id, kind, environment, projects];
  const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
  const ticket = `${payload}.${sign(payload, hash).toString('base64url')}`;
  return ticket.length > LONGEST ? undefined : ticket;
}

/** Returns undefined for text that is not a ticket, and for one whose time has passed. The signature is not checked yet. */
export function readTicket(text: string, now: number): Ticket | undefined {
  if (text.length > LONGEST) return undefined;
  const [, payload, signature] = /^([\w-]+)\.([\w-]{43})$/.exec(text) ?? [];
  if (payload === undefined || signature === undefined) return undefined;
  const [window, id, signer, kind, environment, projects] = contentOf(payload);
  // The clock of the node that has made it may be ahead.
  if (typeof window !== 'number' || Math.abs(windowOf(now) - window) > 1) return undefined;
  const isScope = typeof environment === 'string' && Array.isArray(projects) && projects.every(isString);
  if (!isId(id) || !isId(signer) || !isScope || (kind !== 'client' && kind !== 'frontend')) return undefined;
  return {
    token: { id, kind, environment, projects },
    signer,
    isSignedWith: (hash) => timingSafeEqual(Buffer.from(signature, 'base64url'), sign(payload, hash)),
  };
}

const isString = (part: unknown) => typeof part === 'string';
const isId = (part: unknown): part is string => typeof part === 'string' && /^[0-9a-f]{32}$/.test(part);

function windowOf(now: number): number {
  return Math.floor(now / WINDOW);
}

/** The key is derived from the hash, so that a signature says nothing about the hash itself. */
function sign(payload: string, hash: string): Buffer {
  const key = createHmac('sha256', hash).update('event stream').digest();
  return createHmac('sha256', key).update(payload).digest();
}

function contentOf(payload: string): readonly unknown[] {
  try {
    const content: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}
