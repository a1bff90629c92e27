import type { Channel } from './channel.js';
import type { Listener } from './listener.js';

/** What a client was let in by. */
export interface StreamPermission {
  /** Asked at every heartbeat; a client that may not come in any more is sent away. */
  readonly isStillAdmitted: () => Promise<boolean>;
  /** Asked before every event; absent where the client has no API token. */
  readonly hasValidToken: (() => Promise<boolean>) | undefined;
  /** Clients with the same token are asked about once. */
  readonly tokenId: string | undefined;
}

/** What a client was let in by, and the channel that it listens to. */
export interface Admission extends StreamPermission {
  readonly channel: Channel;
}

interface Delivery {
  readonly listener: Listener;
  readonly channel: Channel;
  /** Changes that come while the token is verified wait for a verification of their own. */
  readonly latest: number;
}

/**
 * Sends every client what it has missed, or ends its stream when its token has expired or was deleted. Each token is verified
 * once; a verification that takes long delays no client with another token.
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

/** `verify` never fails: a storage that cannot be reached says nothing of the token. */
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
