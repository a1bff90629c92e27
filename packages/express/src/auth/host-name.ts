import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';
import { Refusal } from '../errors/refusal.js';

/** Refuses a request for a host that is not this server's, with `host_not_allowed`. */
export type HostCheck = (request: Pick<Request, 'headers'>) => void;

/** A name, or an address; a port may follow. */
const HOST = /^(\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?$/i;

/**
 * Guards a server without authentication against DNS rebinding: a page whose own name resolves to this machine is of the same
 * origin as this server, but its name has a dot and is not among the allowed hosts.
 */
export function createHostCheck({ allowedHosts = [] }: { readonly allowedHosts?: readonly string[] }): HostCheck {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return ({ headers: { host = '' } }) => {
    const name = nameIn(host);
    if (name !== undefined && (isLocal(name) || allowed.has(name) || allowed.has(host.toLowerCase()))) return;
    throw new Refusal(
      'host_not_allowed',
      'The header Host names a host that this server, which has no authentication, does not know. ' +
        'Add it to allowedHosts (FLAGS_ALLOWED_HOSTS).',
    );
  };
}

/** Whether this is what a header `Host` can hold. */
export function isHost(text: unknown): text is string {
  return typeof text === 'string' && HOST.test(text);
}

function nameIn(host: string): string | undefined {
  return HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '');
}

/** Names of this machine, addresses, and names without a dot, as containers and clusters give them. */
function isLocal(name: string): boolean {
  if (name.startsWith('[')) return isIPv6(name.slice(1, -1));
  return isIPv4(name) || (name !== '' && !name.includes('.')) || name.endsWith('.localhost');
}
