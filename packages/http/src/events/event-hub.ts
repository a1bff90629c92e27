import { type FeedPage, type Flags, type FlagsEvent, isFlagsError } from '@flags/core';
import { memoizeAsync } from '@flags/core/integration/http';
import { nextTurn, pause } from '@flags/core/integration/shared';
import type { ProjectFilter } from '../auth/permissions.js';
import { HostFault, invalidInput } from '../messages/errors.js';
import { createEventStreams, type EventStream, HEARTBEAT, type StreamPermission } from '../messages/event-streams.js';
import { ownBytes, type ReplySink } from '../messages/reply.js';
import {
  type EventFilter,
  type EventFilterQuestions,
  eventFilterFor,
  projectsOfSetIn,
  subjectsOf,
} from './event-filter.js';

/** Bytes of events that clients have not taken yet. Beyond it, the client that has waited longest is disconnected. */
const MAX_PENDING = 8 * 1024 * 1024;

export interface EventStreamRequest extends StreamPermission {
  /** The position of the last event that the client has. Undefined: the stream begins now. */
  readonly lastEventId: string | undefined;
  /** Whether the client may see events of this project. Checked before the events of every page. */
  readonly maySee: ProjectFilter;
}

interface EventHubOptions {
  /** Milliseconds between two heartbeats. */
  readonly heartbeatInterval: number;
  /** Converts an event to its wire form. */
  readonly toWire: (event: FlagsEvent) => object;
}

interface Client {
  readonly stream: EventStream;
  readonly request: EventStreamRequest;
  /** Disconnects the client, which reconnects with its last position and misses nothing. */
  readonly fail: (error: unknown) => void;
  /** The position of the last event that was sent, or left out. */
  after: string | null;
  isAdvancing: boolean;
  /** There may be more events, or the client has taken the previous ones. */
  isWoken: boolean;
}

export type EventHub = ReturnType<typeof createEventHub>;

/**
 * Streams the event log to administrators. Each client has a position in the log, and nothing else: the hub reads the next
 * events after the client has taken the previous ones. A slow client therefore holds one event, and no backlog. The
 * subscription of the hub exists only while clients listen.
 */
export function createEventHub(flags: Flags, { heartbeatInterval, toWire }: EventHubOptions) {
  const clients = new Map<EventStream, Client>();
  const streams = createEventStreams(flags, { heartbeatInterval, onStart: subscribe, onBeat: wakeAll });
  const pending = createPendingFrames();
  const readPage = createPageReader(flags);

  function wakeAll(): void {
    for (const client of clients.values()) void advance(client);
  }

  /** Every client reads from its own position, and finds whether that is lost. */
  function subscribe(): () => void {
    return flags.subscribe(wakeAll, { onHistoryLost: wakeAll });
  }

  function listen(sink: ReplySink, request: EventStreamRequest, after: string | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = streams.add(sink, request, {
        onReady(ready) {
          pending.delete(ready);
          void advance(client);
        },
        onLeft(left) {
          pending.delete(left);
          clients.delete(left);
          resolve();
        },
      });
      if (!stream) return resolve();
      const fail = (error: unknown) => {
        stream.cut();
        reject(error);
      };
      const client: Client = { stream, request, fail, after, isAdvancing: false, isWoken: false };
      clients.set(stream, client);
      // Sends the head of the response, so that the client knows that it listens.
      stream.send([HEARTBEAT]);
      void advance(client);
    });
  }

  async function advance(client: Client): Promise<void> {
    client.isWoken = true;
    if (client.isAdvancing) return;
    client.isAdvancing = true;
    try {
      while (client.isWoken) {
        client.isWoken = false;
        while (await sendPage(client));
      }
    } catch (error) {
      // The client reconnects with its last position, which is refused: it starts again.
      if (isFlagsError(error) && error.code === 'history_lost') client.stream.end();
      // The subscription reports a failed read. The next heartbeat or event reads again.
      else if (!isFlagsError(error)) client.fail(error instanceof HostFault ? error.thrown : error);
    }
    client.isAdvancing = false;
  }

  /** Resolves to whether events were sent or left out. Holds no events while it asks for permissions. */
  async function sendPage(client: Client): Promise<boolean> {
    const { stream, request } = client;
    const isOpen = () => clients.has(stream) && stream.isReady;
    await pause();
    if (!isOpen()) return false;
    const found = await readPage(client.after, ({ items, position, projectsOfSet }) => {
      return items[0] && { subjects: subjectsOf(items), position, projectsOfSet };
    });
    if (!found) return false;
    if (request.hasValidToken && !(await request.hasValidToken())) {
      stream.end();
      return false;
    }
    const { subjects, projectsOfSet } = found;
    const filter = await eventFilterFor(subjects, { projectsOfSet, maySee: request.maySee });
    await readPage(client.after, ({ items }) => {
      for (const event of items) {
        if (!isOpen()) return;
        send(client, event, filter);
        // Later events were committed meanwhile.
        if (event.position === found.position) return;
      }
    });
    return true;
  }

  function send(client: Client, event: FlagsEvent, filter: EventFilter): void {
    const shown = filter.show(event);
    client.after = event.position;
    if (!shown) return;
    const frame = ownBytes(`id:${event.position}\ndata:${JSON.stringify(toWire(shown))}\n\n`);
    client.stream.send([frame]);
    if (!client.stream.isReady) pending.add(client.stream, frame);
  }

  /**
   * Refuses a position beyond the newest event, as after a restored backup: the stream would be silent until the log
   * reaches it.
   */
  async function findStart(position: string | undefined): Promise<string | null> {
    if (position !== undefined && (await readPage(position, ({ items }) => items.length > 0))) return position;
    const newest = await flags.events.listNext();
    if (position === undefined || position === newest.position) return newest.position;
    throw invalidInput([{ message: 'must be the position of an event of this log', path: '/after' }]);
  }

  return {
    /**
     * Returns a function that streams to one client. Its promise resolves when the stream has ended, and rejects with the
     * error of a host function.
     *
     * @throws FlagsError `invalid_input` (`lastEventId` is not a position of this log), `closed`
     */
    async prepare(request: EventStreamRequest): Promise<(sink: ReplySink) => Promise<void>> {
      streams.assertOpen();
      const after = await findStart(request.lastEventId);
      return (sink) => listen(sink, request, after);
    },
    close: streams.close,
  };
}

/** A page of the log, and what all clients that send it ask about its change sets. */
interface SharedPage extends FeedPage, Pick<EventFilterQuestions, 'projectsOfSet'> {}

/** Returns a function that passes the page after a position to `use`. One page at a time is in memory. */
function createPageReader(flags: Flags) {
  let latest: { readonly after: string | null; readonly page: SharedPage } | undefined;
  let reading: Promise<unknown> = Promise.resolve();

  async function read(after: string | null): Promise<SharedPage> {
    // The client that has the page sends it before the next one is read, unless it waits for a permission.
    await nextTurn();
    if (latest?.after === after) return latest.page;
    latest = undefined;
    const page = { ...(await flags.events.listNext({ after })), projectsOfSet: memoizeAsync(projectsOfSetIn(flags)) };
    if (page.items.length > 0) latest = { after, page };
    return page;
  }

  return async <T>(after: string | null, use: (page: SharedPage) => T): Promise<T> => {
    // Most clients are at the same position.
    if (latest?.after === after) return use(latest.page);
    const result = reading.then(() => read(after));
    reading = result.catch(() => undefined);
    return use(await result);
  };
}

/** The events that clients have not taken yet. */
function createPendingFrames() {
  const frames = new Map<EventStream, Buffer>();
  const size = () => [...frames.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    delete: (stream: EventStream) => void frames.delete(stream),
    add(stream: EventStream, frame: Buffer): void {
      frames.delete(stream);
      frames.set(stream, frame);
      for (const oldest of frames.keys()) {
        if (frames.size === 1 || size() <= MAX_PENDING) return;
        frames.delete(oldest);
        oldest.cut();
      }
    },
  };
}
