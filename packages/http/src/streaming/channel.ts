import { randomBytes } from 'node:crypto';
import type { Flags } from '@flags/core';
import type { ResponseCache } from '../caching.js';
import { type ClientQuery, clientDocumentOf } from '../client/client-document.js';
import { COLLECTED_LENGTH } from '../json-chunks.js';
import { changesBetween, createJournal, type Frame, hydrationFrame, type LongFrame, updateFrame } from './frames.js';
import type { Listener } from './listener.js';

/** All clients that ask for the same. The channel encodes each change once for all of them. */
export interface Channel {
  readonly listeners: ReadonlyMap<Listener, unknown>;
  /**
   * Adds a listener. Sends it the changes since its last event, or the full state if the journal no longer has them.
   */
  join(listener: Listener, lastEventId: string | undefined): void;
  leave(listener: Listener): void;
  /** The event number of the latest change. */
  readonly latest: number;
  /**
   * Sends the changes between the listener's position and `latest`. Sends the full state if the journal no longer has
   * these changes. Disconnects a listener that is still busy with earlier data then; it reconnects for the full state.
   */
  deliver(listener: Listener, latest: number): void;
  /** Appends changes since the last call to the journal. */
  advance(): void;
  /** Ends the subscription to changes. */
  close(): void;
}

/** The first message to a client. Without bytes, it is too long to share. */
export interface Hydration {
  readonly bytes?: Buffer;
}

export interface ChannelOptions {
  readonly asked: ClientQuery;
  readonly cache: ResponseCache<Hydration>;
  /** Called after every change in the environment. */
  readonly onChange: (channel: Channel) => void;
}

/**
 * Creates the channel of a query.
 *
 * @throws FlagsError `environment_not_found`
 */
export function createChannel(flags: Flags, { asked, cache, onChange }: ChannelOptions): Channel {
  // Unique per channel and process, so that event ids of other channels never match.
  const name = randomBytes(8).toString('hex');
  const journal = createJournal();
  const positions = new Map<Listener, number>();
  const changed = { flags: new Set<string>(), segments: new Set<number>() };
  let document = clientDocumentOf(flags.configuration(asked), asked);
  const close = flags.onConfigurationChange((change) => {
    if (change.environment !== asked.environment) return;
    for (const flag of change.flags) changed.flags.add(flag);
    for (const segment of change.segments) changed.segments.add(segment);
    onChange(channel);
  });
  const positionAt = (eventId: number) => ({ id: `${name}-${eventId}`, eventId });

  function catchUp(): void {
    if (changed.flags.size + changed.segments.size === 0) return;
    const before = document;
    document = clientDocumentOf(flags.configuration(asked), asked);
    const changes = changesBetween(before, document, changed);
    changed.flags.clear();
    changed.segments.clear();
    if (changes.length > 0) journal.append(updateFrame(changes, positionAt(journal.latest + 1)));
  }

  /** Returns the full state. Listeners share a short message; a long message is generated for each listener. */
  function hydrate(): Frame {
    const version = `${journal.latest}`;
    const make = () => hydrationFrame(document, positionAt(journal.latest));
    const cachedHydration = cache.get(name, version);
    if (cachedHydration) return cachedHydration.bytes ?? make();
    const bytes = joinShort(make());
    cache.set(name, version, bytes ? { bytes } : {});
    return bytes ?? make();
  }

  function deliver(listener: Listener, latest: number): void {
    const position = positions.get(listener);
    if (position === undefined || position >= latest) return;
    const missed = journal.since(position);
    if (!listener.isReady) {
      if (missed === undefined) listener.cut();
      return;
    }
    positions.set(listener, missed ? latest : journal.latest);
    listener.send(missed?.slice(0, latest - position) ?? [hydrate()]);
  }

  const channel: Channel = {
    listeners: positions,
    join(listener, lastEventId) {
      catchUp();
      positions.set(listener, journal.latest);
      const eventId = eventIdOf(name, lastEventId);
      const missed = eventId === undefined ? undefined : journal.since(eventId);
      listener.send(missed ?? [hydrate()]);
    },
    leave: (listener) => void positions.delete(listener),
    get latest() {
      return journal.latest;
    },
    deliver,
    advance: catchUp,
    close,
  };
  return channel;
}

/** Returns the whole message; undefined when it is too long. */
function joinShort(frame: LongFrame): Buffer | undefined {
  const parts: Buffer[] = [];
  let length = 0;
  for (let part = frame.next(); part; part = frame.next()) {
    parts.push(part);
    length += part.length;
    if (length > COLLECTED_LENGTH) return undefined;
  }
  // An unpooled buffer, because the cache keeps it.
  const whole = Buffer.allocUnsafeSlow(length);
  let offset = 0;
  for (const part of parts) offset += part.copy(whole, offset);
  return whole;
}

/** Returns the event number of an id from this channel; undefined for ids of other channels. */
function eventIdOf(channel: string, id = ''): number | undefined {
  const [, name, eventId] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
  return name === channel ? Number(eventId) : undefined;
}

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
