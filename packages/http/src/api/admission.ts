import { overloaded } from '../messages/errors.js';
import type { FlagsReply, ReplySink } from '../messages/reply.js';
import { type BodyMeter, type FlagsRequest, SHORT_BODY } from '../messages/request.js';

/** The maximum number of waiting requests: in all, and of one actor, so that one actor cannot fill the queue. */
interface Queue {
  readonly all: number;
  readonly perActor: number;
}

const QUEUES = {
  short: { all: 8, perActor: 4 },
  bodies: { all: 64, perActor: 12 },
  /** For requests that hold no memory worth counting while they wait. */
  unlimited: { all: Number.POSITIVE_INFINITY, perActor: Number.POSITIVE_INFINITY },
} as const satisfies Readonly<Record<string, Queue>>;

/** The places of one kind of long work. */
interface Kind {
  /** The number of requests that work at once; for bodies, the number of bytes. It bounds their total memory. */
  readonly places: number;
  /** The number of long replies that clients read beside them. Default: a client that reads keeps the place. */
  readonly replies?: number;
  readonly queue: keyof typeof QUEUES;
  /** Whether a request waits while another one of the same actor works. */
  readonly isOnePerActor?: true;
  /** Places are given in the order of arrival, so that a large body does not wait forever. */
  readonly isInOrder?: true;
}

/** The docstrings are the table of heavy requests in docs/reference/limits.md. */
const KINDS = {
  /**
   * Bodies over 64 KiB, and all packed ones, until they are handled. Bodies that a parser of your own has read do not
   * count.
   */
  body: { places: 4 * 1024 * 1024, queue: 'bodies', isInOrder: true },
  /** Reading a history, events, a change set, a change request, a segment or a whole list; the playground. */
  read: { places: 2, queue: 'unlimited', isOnePerActor: true },
  /** A preview, a plan of several changes, an export, a state at an earlier time (`asOf`), a search in events. */
  plan: { places: 2, queue: 'short', isOnePerActor: true },
  /**
   * A change set or request of more than 10 changes; approving or applying a request; undo; import, also with `dryRun`;
   * any other change with a body over 64 KiB.
   */
  change: { places: 1, replies: 2, queue: 'short', isOnePerActor: true },
  /** A report with a body over 64 KiB. */
  report: { places: 2, queue: 'unlimited' },
  /** An evaluation of all flags, from 64 KiB of its response on. */
  evaluation: { places: 2, replies: 16, queue: 'unlimited' },
  /** Encoding the flags for SDKs, which clients share. */
  document: { places: 2, queue: 'unlimited' },
} as const satisfies Readonly<Record<string, Kind>>;

export type WorkKind = keyof typeof KINDS;

/** While others wait, a client moves at least 64 KiB in this time, in milliseconds, or is disconnected. */
const PATIENCE = 5000;
/** While others wait, a client that takes longer to read its reply is disconnected, in milliseconds. */
const LONGEST_READ = 120_000;
/**
 * The interval of the check, in milliseconds. It runs only while requests wait. It is short, because many clients that
 * do not read keep their places one after the other, and the time until the next check adds up.
 */
const CHECK_INTERVAL = 100;

/** A client whose body arrives, or that reads its reply. */
interface Client {
  readonly since: number;
  /** The time since which the client has moved less than 64 KiB; undefined if it has taken all data. */
  idleSince: number | undefined;
  readonly disconnect: () => unknown;
}

interface Place {
  readonly kind: WorkKind;
  /** 1, or the bytes of a body. */
  readonly size: number;
  readonly actor: string;
  /** The work is done, and only the reply is left. */
  isReplying: boolean;
  client: Client | undefined;
}

interface Waiting {
  readonly place: Place;
  readonly admit: () => void;
}

/** The places of one request. */
export interface Passage {
  readonly meter: BodyMeter;
  /**
   * Resolves when the request has a place. Repeated calls do nothing. Rejects with `overloaded` when the queue is full,
   * and with the reason of the signal when the client disconnects while it waits.
   */
  enter(kind: WorkKind): Promise<void>;
  isInside(): boolean;
  /** Frees the place of a change after its commit. A long reply to it still takes a place for replies. */
  commit(): void;
  /** Frees the places. Frees the place of a long reply when the client has taken the reply. */
  leaveAfter(reply: FlagsReply): FlagsReply;
  /** Frees all places. Repeated calls do nothing. */
  leave(): void;
}

/** Limits how much long work one API does at once. */
export type Admission = (request: Pick<FlagsRequest, 'signal'>, actor: string) => Passage;

/**
 * Creates the places for long requests. What comes together has to fit into the memory, so each router gives places to
 * requests that are long. Switching flags off needs none, also by a change set of at most 256 KiB.
 *
 * - One caller is one user or token. Reports and evaluations are not counted by token, because a fleet shares one.
 * - A place is free when its change is committed, when its response is taken, or when its client disconnects. A
 *   response over 128 KiB is taken in slices. An evaluation leaves its place to the next one when it is made, while at
 *   most 16 clients read theirs. A change that has begun is completed.
 * - While others wait, a client that takes nothing of its response for 5 seconds is disconnected, and so is one that
 *   reads for two minutes, or sends less than 64 KiB of its body in 5 seconds. At most two long responses to changes
 *   are written while another change waits.
 * - A response up to 1 MiB has an `ETag` of its content. A longer one is written while its client reads, and has none.
 * - Flags for SDKs are encoded once per scope and state, and kept with an `ETag` of their content, up to 32 MiB for
 *   each router. Longer ones keep the `ETag` only.
 * - Cached responses other than pages are kept once, whatever unknown parameters or repeated slashes their addresses
 *   have.
 * - A connection with many requests at once gets 64 answers in a turn of the event loop, and is not read while 32 of
 *   its requests wait.
 */
export function createAdmission(): Admission {
  const inside = new Set<Place>();
  const queue: Waiting[] = [];
  let check: NodeJS.Timeout | undefined;

  function hasRoom({ kind, size, actor }: Place): boolean {
    const { places, replies = Number.POSITIVE_INFINITY, isOnePerActor }: Kind = KINDS[kind];
    let [working, replying] = [0, 0];
    for (const other of inside) {
      if (isOnePerActor && !other.isReplying && other.actor === actor && isLimitedPerActor(other)) return false;
      if (other.kind !== kind) continue;
      if (other.isReplying) replying++;
      else working += other.size;
    }
    // A host may allow bodies that are larger than the whole room.
    return replying < replies && (working === 0 || working + size <= places);
  }

  function admitNext(): void {
    const blocked = new Set<WorkKind>();
    for (const { place, admit } of [...queue]) {
      if (!blocked.has(place.kind) && hasRoom(place)) admit();
      else if (isInOrder(place)) blocked.add(place.kind);
    }
  }

  function mayEnter(place: Place): boolean {
    const isOvertaking = isInOrder(place) && queue.some((other) => other.place.kind === place.kind);
    return !isOvertaking && hasRoom(place);
  }

  function assertQueueHasRoom({ kind, actor }: Place): void {
    const name = KINDS[kind].queue;
    const { all, perActor } = QUEUES[name];
    const others = queue.filter(({ place }) => KINDS[place.kind].queue === name);
    const own = others.filter(({ place }) => place.actor === actor);
    if (others.length >= all || own.length >= perActor) throw overloaded();
  }

  function wait(place: Place, signal: AbortSignal | undefined): Promise<void> {
    assertQueueHasRoom(place);
    return new Promise((resolve, reject) => {
      const dequeue = () => {
        queue.splice(queue.indexOf(waiting), 1);
        signal?.removeEventListener('abort', giveUp);
        if (queue.length === 0) stopCheck();
      };
      const giveUp = () => {
        dequeue();
        reject(signal?.reason);
        admitNext();
      };
      const waiting: Waiting = {
        place,
        admit() {
          dequeue();
          inside.add(place);
          resolve();
        },
      };
      queue.push(waiting);
      signal?.addEventListener('abort', giveUp);
      check ??= setInterval(disconnectIdle, CHECK_INTERVAL).unref();
    });
  }

  function stopCheck(): void {
    clearInterval(check);
    check = undefined;
  }

  function disconnectIdle(): void {
    const now = performance.now();
    for (const place of inside) {
      const { since = now, idleSince = now, disconnect } = place.client ?? {};
      if (now - idleSince < PATIENCE && now - since < LONGEST_READ) continue;
      place.client = undefined;
      disconnect?.();
    }
  }

  return (request, actor) => {
    const places = new Map<WorkKind, Place>();

    async function enter(kind: WorkKind, size = 1): Promise<void> {
      if (places.has(kind)) return;
      request.signal?.throwIfAborted();
      const place: Place = { kind, size, actor, isReplying: false, client: undefined };
      places.set(kind, place);
      if (mayEnter(place)) inside.add(place);
      else await wait(place, request.signal);
      if (places.get(kind) !== place) remove(place);
    }

    function remove(place: Place): void {
      if (inside.delete(place)) admitNext();
    }

    function leave(): void {
      const left = [...places.values()];
      places.clear();
      for (const place of left) remove(place);
    }

    function startReplying(place: Place): void {
      if (place.isReplying || !inside.has(place)) return;
      place.isReplying = true;
      admitNext();
    }

    return {
      enter: (kind) => enter(kind),
      isInside: () => [...places.values()].some((place) => place.kind !== 'body' && inside.has(place)),
      leave,
      commit() {
        const place = places.get('change');
        if (place) startReplying(place);
      },
      leaveAfter(reply) {
        const body = places.get('body');
        if (body) remove(body);
        const { stream, discard } = reply;
        const held = [...places.values()].filter((place) => inside.has(place));
        if (!stream || held.length === 0) {
          leave();
          return reply;
        }
        for (const place of held) if ('replies' in KINDS[place.kind]) startReplying(place);
        return {
          ...reply,
          async stream(sink) {
            const client = { since: performance.now(), idleSince: undefined, disconnect: () => sink.destroy() };
            for (const place of held) place.client = client;
            try {
              await stream(watched(sink, client));
            } finally {
              leave();
            }
          },
          async discard() {
            leave();
            await discard?.();
          },
        };
      },
      meter: createMeter(
        (size) => enter('body', size),
        () => places.get('body'),
      ),
    };
  };
}

function isInOrder({ kind }: Place): boolean {
  return 'isInOrder' in KINDS[kind];
}

function isLimitedPerActor({ kind }: Place): boolean {
  return 'isOnePerActor' in KINDS[kind];
}

function createMeter(enter: (size: number) => Promise<void>, placeOf: () => Place | undefined): BodyMeter {
  let received = 0;
  return {
    async admit(size, disconnect) {
      if (placeOf()) return;
      await enter(size);
      const place = placeOf();
      const now = performance.now();
      if (place) place.client = { since: Number.POSITIVE_INFINITY, idleSince: now, disconnect };
    },
    receive(bytes) {
      received += bytes;
      const client = placeOf()?.client;
      if (client === undefined || received < SHORT_BODY) return;
      received = 0;
      client.idleSince = performance.now();
    },
    end() {
      const place = placeOf();
      if (place) place.client = undefined;
    },
  };
}

/** Records when the client stopped taking data. */
function watched(sink: ReplySink, client: Client): ReplySink {
  return {
    get destroyed() {
      return sink.destroyed;
    },
    write(slice) {
      const isTaken = sink.write(slice);
      client.idleSince = isTaken ? undefined : performance.now();
      return isTaken;
    },
    end: () => sink.end(),
    destroy: () => sink.destroy(),
    on(event, listener) {
      if (event !== 'drain') return sink.on(event, listener);
      return sink.on('drain', () => {
        client.idleSince = undefined;
        listener();
      });
    },
  };
}
