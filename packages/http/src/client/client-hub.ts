import { randomBytes } from 'node:crypto';
import { memoizeAsync } from '@flags/core/integration/http';
import { nextTurn } from '@flags/core/integration/shared';
import { createEventStreams, type EventStream, type Frame, type StreamPermission } from '../messages/event-streams.js';
import type { ReplySink } from '../messages/reply.js';
import type { FlagsSource } from '../source.js';
import { type ClientQuery, clientDocumentOf, keyOf } from './client-document.js';
import { changesBetween, hydrationFrame, Journal, updateFrame } from './frames.js';
import { createHydrations, type Hydrations } from './hydrations.js';

export interface StreamRequest extends StreamPermission {
  readonly asked: ClientQuery;
  readonly lastEventId: string | undefined;
  /** Clients with the same token share one check. */
  readonly tokenId: string | undefined;
}

/** The maximum number of channels without streams. They remain for clients that reconnect. */
const IDLE_CHANNELS = 20;

export type ClientHub = ReturnType<typeof createClientHub>;

/**
 * Streams the changes of flags to client SDKs.
 *
 * @param heartbeatInterval milliseconds between two heartbeats
 */
export function createClientHub(source: FlagsSource, heartbeatInterval: number) {
  const hydrations = createHydrations();
  const streams = createEventStreams(source, {
    heartbeatInterval,
    onStart: () => source.following?.onTokenEnded(endToken) ?? (() => undefined),
  });
  const channels = new Map<string, Channel>();

  function channelOf(asked: ClientQuery): Channel {
    const key = keyOf(asked);
    const channel = channels.get(key) ?? createChannel(source, asked, hydrations);
    // Reinserts the channel, because eviction starts with the oldest one.
    channels.delete(key);
    channels.set(key, channel);
    return channel;
  }

  /** Ends the streams of a token that is no longer valid, or all streams. */
  function endToken(tokenId?: string): void {
    for (const channel of channels.values()) channel.end(tokenId);
  }

  /** Removes channels without streams, except the most recent ones. */
  function forgetIdle(count: number): void {
    const idle = [...channels].filter(([, { isIdle }]) => isIdle);
    for (const [key, channel] of idle.slice(0, Math.max(0, idle.length - count))) {
      channels.delete(key);
      channel.close();
    }
  }

  return {
    /**
     * Returns a function that streams to one client.
     *
     * @throws FlagsError `environment_not_found`, `closed`
     */
    prepare(request: StreamRequest): (sink: ReplySink) => Promise<void> {
      streams.assertOpen();
      // Refuses an unknown environment before the reply begins.
      source.configuration(request.asked);
      return async (sink) => {
        const stream = streams.add(sink, request, {
          onReady: (ready) => channel.deliver([ready]),
          onLeft(left) {
            channel.leave(left);
            forgetIdle(IDLE_CHANNELS);
          },
        });
        if (!stream) return;
        const channel = channelOf(request.asked);
        channel.join(stream, request);
      };
    },
    close(): void {
      streams.close();
      forgetIdle(0);
    },
  };
}

/** All clients with the same request. The channel encodes each change once for all of them. */
interface Channel {
  readonly isIdle: boolean;
  /**
   * Adds a stream. Sends it the changes since its last event, or the full state if the journal no longer has them.
   */
  join(stream: EventStream, request: StreamRequest): void;
  leave(stream: EventStream): void;
  /** Sends streams the changes that they have missed. Ends the stream when its token has expired or was deleted. */
  deliver(streams: Iterable<EventStream>): void;
  /** Ends the streams of a token, or all streams. */
  end(tokenId?: string): void;
  /** Ends the subscription to changes. */
  close(): void;
}

/** A client, and the event number up to which it has the changes. */
interface Client {
  readonly request: StreamRequest;
  position: number;
}

/** @throws FlagsError `environment_not_found` */
function createChannel(source: FlagsSource, asked: ClientQuery, hydrations: Hydrations): Channel {
  // Unique per channel and process, so that event ids of other channels never match.
  const name = randomBytes(8).toString('hex');
  const journal = new Journal();
  const clients = new Map<EventStream, Client>();
  const changed = { flags: new Set<string>(), segments: new Set<number>() };
  let isScheduled = false;
  let document = clientDocumentOf(source.configuration(asked), asked);
  const close = source.onConfigurationChange((change) => {
    if (change.environment !== asked.environment) return;
    for (const flag of change.flags) changed.flags.add(flag);
    for (const segment of change.segments) changed.segments.add(segment);
    if (clients.size === 0 || isScheduled) return;
    isScheduled = true;
    void nextTurn().then(advance);
  });
  const positionAt = (eventId: number) => ({ id: `${name}-${eventId}`, eventId });

  /** Sends the changes of one moment as one message. */
  function advance(): void {
    isScheduled = false;
    catchUp();
    deliver(clients.keys());
  }

  /** Appends the changes since the last call to the journal. */
  function catchUp(): void {
    if (changed.flags.size + changed.segments.size === 0) return;
    const before = document;
    document = clientDocumentOf(source.configuration(asked), asked);
    const changes = [...changesBetween(before, document, changed)];
    changed.flags.clear();
    changed.segments.clear();
    if (changes.length === 0) return;
    journal.append(updateFrame(changes, positionAt(journal.latest + 1)));
    hydrations.forget(name);
  }

  /** Every stream that starts before the next change gets the same bytes. */
  function hydrate(): Frame {
    const [current, position] = [document, positionAt(journal.latest)];
    return hydrations.frame(name, position.eventId, () => hydrationFrame(current, position));
  }

  /** Verifies each token once; a slow verification does not delay clients with other tokens. */
  function deliver(streams: Iterable<EventStream>): void {
    // Later changes need a check of their own.
    const { latest } = journal;
    const isValid = memoizeAsync(
      // Never rejects: an unreachable storage does not invalidate a token.
      async ({ hasValidToken }: StreamRequest) => hasValidToken === undefined || hasValidToken(),
      ({ tokenId }) => tokenId,
    );
    for (const stream of streams) {
      const client = clients.get(stream);
      if (client && client.position < latest) {
        void isValid(client.request).then((isAdmitted) => (isAdmitted ? send(stream, client, latest) : stream.end()));
      }
    }
  }

  /**
   * Sends the changes between the stream's position and `latest`, or the full state if the journal no longer has them.
   * Disconnects a stream that is still busy with earlier data then; it reconnects for the full state.
   */
  function send(stream: EventStream, client: Client, latest: number): void {
    const { position } = client;
    if (position >= latest || !clients.has(stream)) return;
    const missed = journal.since(position);
    if (!stream.isReady) {
      if (missed === undefined) stream.cut();
      return;
    }
    client.position = missed ? latest : journal.latest;
    stream.send(missed?.slice(0, latest - position) ?? [hydrate()]);
  }

  return {
    get isIdle() {
      return clients.size === 0;
    },
    join(stream, request) {
      catchUp();
      clients.set(stream, { request, position: journal.latest });
      const eventId = eventIdOf(name, request.lastEventId);
      const missed = eventId === undefined ? undefined : journal.since(eventId);
      stream.send(missed ?? [hydrate()]);
    },
    leave(stream) {
      clients.delete(stream);
      if (clients.size === 0) hydrations.forget(name);
    },
    deliver,
    end(tokenId) {
      for (const [stream, { request }] of clients) {
        if (tokenId === undefined || request.tokenId === tokenId) stream.end();
      }
    },
    close,
  };
}

/** Returns the event number of an id from this channel; undefined for ids of other channels. */
function eventIdOf(channel: string, id = ''): number | undefined {
  const [, name, eventId] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
  return name === channel ? Number(eventId) : undefined;
}
