import { randomUUID } from 'node:crypto';
import { paced } from '@flags/core/integration/http';
import { createEventStreams, type EventStream, type StreamPermission } from '../messages/event-streams.js';
import type { ReplySink } from '../messages/reply.js';
import type { FlagsSource } from '../source.js';

export interface RefetchRequest extends StreamPermission {
  readonly environment: string;
  readonly tokenId: string | undefined;
}

/** A client with its next event. */
interface Client {
  readonly request: RefetchRequest;
  /** When the last event was sent, by the monotonic clock, in milliseconds. */
  sentAt: number;
  /** Present while an event waits. */
  timer: NodeJS.Timeout | undefined;
  /** The client had not taken earlier data when an event was due. */
  isLate: boolean;
}

/** Milliseconds in which a client gets one event at most, ± 20 %: all clients evaluate all flags after an event. */
const INTERVAL = 1000;

export type RefetchHub = ReturnType<typeof createRefetchHub>;

/**
 * Tells browsers that the configuration of their environment has changed. Events have no other content, so they are not
 * replayed: each connection begins with an event, after which the provider evaluates all flags again.
 *
 * @param heartbeatInterval milliseconds between two heartbeats
 */
export function createRefetchHub(source: FlagsSource, heartbeatInterval: number) {
  const id = randomUUID();
  const event = Buffer.from(`event:message\ndata:${JSON.stringify({ type: 'refetchEvaluation', etag: id })}\n\n`);
  const clients = new Map<EventStream, Client>();
  let repetition: NodeJS.Timeout | undefined;
  const streams = createEventStreams(source, {
    heartbeatInterval,
    onStart() {
      const ends = [
        source.onConfigurationChange(({ environment }) => {
          void announce(environment);
          repeatLater(environment);
        }),
        source.following?.onTokenEnded(endToken),
        () => clearTimeout(repetition),
      ];
      return () => {
        for (const end of ends) end?.();
      };
    },
  });

  /** Repeats an event: the evaluation after the first one may reach a follower that does not have the change yet. */
  function repeatLater(environment: string): void {
    if (!source.following) return;
    clearTimeout(repetition);
    repetition = setTimeout(() => void announce(environment), source.following.lag).unref();
  }

  /** The first change of a quiet second is sent at once; those that follow are merged. In slices, for many clients. */
  async function announce(environment: string): Promise<void> {
    for await (const [stream, client] of paced(clients)) {
      if (client.request.environment !== environment || client.timer) continue;
      const delay = client.sentAt + INTERVAL * (0.8 + 0.4 * Math.random()) - performance.now();
      if (delay > 0) schedule(stream, client, delay);
      else void send(stream, client);
    }
  }

  function schedule(stream: EventStream, client: Client, delay: number): void {
    client.timer = setTimeout(() => void send(stream, client), delay).unref();
  }

  /** Ends the stream if the token has ended. Never rejects: an unreachable storage does not invalidate a token. */
  async function send(stream: EventStream, client: Client): Promise<void> {
    // A change from now on needs an event of its own.
    client.timer = undefined;
    client.sentAt = performance.now();
    const { hasValidToken } = client.request;
    if (hasValidToken && !(await hasValidToken())) return stream.end();
    if (!clients.has(stream)) return;
    client.isLate = !stream.isReady;
    if (stream.isReady) stream.send([event]);
  }

  function sendIfLate(stream: EventStream): void {
    const client = clients.get(stream);
    if (client?.isLate) void send(stream, client);
  }

  function leave(stream: EventStream): void {
    clearTimeout(clients.get(stream)?.timer);
    clients.delete(stream);
  }

  /** Ends the streams of a token that is no longer valid, or all streams. */
  function endToken(tokenId?: string): void {
    for (const [stream, { request }] of clients) {
      if (tokenId === undefined || request.tokenId === tokenId) stream.end();
    }
  }

  return {
    /** Providers repeat it in the evaluation after an event, which may reach another node. */
    id,
    /**
     * Returns a function that streams to one client.
     *
     * @throws FlagsError `environment_not_found`, `closed`
     */
    prepare(request: RefetchRequest): (sink: ReplySink) => Promise<void> {
      streams.assertOpen();
      // Refuses an unknown environment before the reply begins.
      source.configuration(request);
      return async (sink) => {
        const stream = streams.add(sink, request, { onReady: sendIfLate, onLeft: leave });
        if (!stream) return;
        const client: Client = { request, sentAt: Number.NEGATIVE_INFINITY, timer: undefined, isLate: false };
        clients.set(stream, client);
        // Spreads clients that reconnect together: otherwise all of them would evaluate at once.
        schedule(stream, client, INTERVAL * Math.random());
      };
    },
    close: streams.close,
  };
}
