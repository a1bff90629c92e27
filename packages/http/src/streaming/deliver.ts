import type { Channel } from './channel.js';
import type { Listener } from './listener.js';

/** The permission of a streaming client. */
export interface StreamPermission {
  /** Checked at every heartbeat. The stream ends when the client loses its permission. */
  readonly isStillAdmitted: () => Promise<boolean>;
  /** Checked before every event; absent when the client has no API token. */
  readonly hasValidToken: (() => Promise<boolean>) | undefined;
  /** Clients with the same token share one check. */
  readonly tokenId: string | undefined;
}

/** A client's permission and channel. */
export interface Admission extends StreamPermission {
  readonly channel: Channel;
}

interface Delivery {
  readonly listener: Listener;
  readonly channel: Channel;
  /** The latest change at the time of the check. Later changes need a check of their own. */
  readonly latest: number;
}

/**
 * Sends the missed changes to each client. Ends the stream when its token has expired or was deleted. Verifies each
 * token once; a slow verification does not delay clients with other tokens.
 */
export function deliver(admissions: Iterable<readonly [Listener, Admission]>): void {
  const withToken = new Map<string, { readonly verify: () => Promise<boolean>; readonly deliveries: Delivery[] }>();
  for (const [listener, { channel, tokenId, hasValidToken: verify }] of admissions) {
    const delivery = { listener, channel, latest: channel.latest };
    if (tokenId === undefined || verify === undefined) send(delivery);
    else {
      const group = withToken.get(tokenId) ?? { verify, deliveries: [] };
      group.deliveries.push(delivery);
      withToken.set(tokenId, group);
    }
  }
  for (const { verify, deliveries } of withToken.values()) void verifyThenSend(verify, deliveries);
}

/** `verify` never rejects: an unreachable storage does not invalidate a token. */
async function verifyThenSend(verify: () => Promise<boolean>, deliveries: readonly Delivery[]): Promise<void> {
  const isValid = await verify();
  for (const delivery of deliveries) {
    if (isValid) send(delivery);
    else delivery.listener.end();
  }
}

function send({ listener, channel, latest }: Delivery): void {
  channel.deliver(listener, latest);
}
