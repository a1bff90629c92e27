import type { Token } from '@flags/core';
import { createTicket, hashSecret, idOfHash, readTicket } from '@flags/core/integration/follower';
import { isWithin, type Scope, type Tokens, toNamedToken } from './tokens.js';

/**
 * Issues and verifies tickets. The address of a stream for browsers contains a ticket instead of the secret of a token.
 */
export interface Tickets {
  /** Returns the ticket of a token; undefined for a token of too many projects. */
  issue(token: Token): Promise<string | undefined>;
  /** Resolves to the token of a valid ticket. */
  verify(ticket: string): Promise<Token | undefined>;
}

export interface TicketsOptions {
  /** The secret of the own token, whose key signs: all followers with the same token accept each other's tickets. */
  readonly token: string;
  readonly tokens: Pick<Tokens, 'find'>;
  readonly scope: () => Scope | undefined;
  readonly now: () => number;
}

export function createTickets({ token: secret, tokens, scope, now }: TicketsOptions): Tickets {
  const hash = hashSecret(secret);
  const own = { id: idOfHash(hash), hash };
  return {
    issue: async (token) => createTicket(token, own, now()),
    async verify(text) {
      const ticket = readTicket(text, now());
      const found = ticket && tokens.find(ticket.token.id);
      if (!ticket || found === null) return undefined;
      // The server itself signs with the key of the token.
      const signer = [own, ...(found ? [{ id: found.token.id, hash: found.hash }] : [])].find(
        ({ id }) => id === ticket.signer,
      );
      if (!signer || !ticket.isSignedWith(signer.hash)) return undefined;
      if (found) return found.token;
      // Another follower has verified the token.
      const within = scope();
      if (!within || !isWithin(ticket.token, within)) return undefined;
      return toNamedToken({ ...ticket.token, expiresAt: null }, new Date(now()).toISOString());
    },
  };
}
