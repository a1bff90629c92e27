import type { FlagConfiguration, SegmentConfiguration } from '@flags/core';
import type { Contents } from '../client/documents.js';
import { flagDigest, flagText, segmentDigest, segmentText } from '../client/texts.js';
import { ownBytes } from '../reply.js';

/** A message of the stream: ready to be sent to every client of a channel, or too long for that. */
export type Frame = Buffer | LongFrame;

/** A message on its way to one client. Its parts are made when the client has taken those before. */
export interface LongFrame {
  /** The next part; undefined at the end. */
  next(): Buffer | undefined;
}

/** Where a client is: `eventId` counts within a channel, `id` names the channel too. */
export interface Place {
  readonly id: string;
  readonly eventId: number;
}

/** A comment: it keeps proxies and clients from taking the connection for dead. */
export const HEARTBEAT: Buffer = Buffer.from(':\n\n');

/** A longer update is not kept: clients get the whole state instead. */
const UPDATE_LENGTH = 1024 * 1024;

/** What has changed since the frame before; undefined when that is too long. */
export function updateFrame(changes: readonly Change[], { id, eventId }: Place): Buffer | undefined {
  let events = '';
  for (const change of changes) {
    events += `${events === '' ? '' : ','}${changeText(change, eventId)}`;
    if (events.length > UPDATE_LENGTH) return undefined;
  }
  const [start, end] = envelopeOf('unleash-updated', id);
  return ownBytes(start + events + end);
}

/** What stands around the events of a message. JSON has no line breaks, so an event's data is one line. */
export function envelopeOf(event: string, id: string): readonly [start: string, end: string] {
  return [`id:${id}\nevent:${event}\ndata:{"events":[`, ']}\n\n'];
}

function changeText(change: Change, eventId: number): string {
  const head = `{"type":"${change.type}","eventId":${eventId}`;
  switch (change.type) {
    case 'segment-updated':
      return `${head},"segment":${segmentText(change.segment)}}`;
    case 'feature-updated':
      return `${head},"feature":${flagText(change.flag)}}`;
    case 'feature-removed':
      return `${head},"featureName":${JSON.stringify(change.flag.name)},"project":${JSON.stringify(change.flag.project)}}`;
    case 'segment-removed':
      return `${head},"segmentId":${change.segment.id}}`;
  }
}

/** One thing that a client has to change to get from one state to the next. */
export type Change =
  | { readonly type: 'segment-updated'; readonly segment: SegmentConfiguration }
  | { readonly type: 'feature-updated'; readonly flag: FlagConfiguration }
  | { readonly type: 'feature-removed'; readonly flag: FlagConfiguration }
  | { readonly type: 'segment-removed'; readonly segment: SegmentConfiguration };

/** What has changed, in an order in which no flag ever misses a segment. Empty when a client would see no difference. */
export function changesBetween(before: Contents, after: Contents): readonly Change[] {
  const flags = differenceOf(before.flags, after.flags, { keyOf: ({ name }) => name, digestOf: flagDigest });
  const segments = differenceOf(before.segments, after.segments, { keyOf: ({ id }) => id, digestOf: segmentDigest });
  return [
    ...segments.updated.map((segment) => ({ type: 'segment-updated', segment }) as const),
    ...flags.updated.map((flag) => ({ type: 'feature-updated', flag }) as const),
    ...flags.removed.map((flag) => ({ type: 'feature-removed', flag }) as const),
    ...segments.removed.map((segment) => ({ type: 'segment-removed', segment }) as const),
  ];
}

interface Traits<Item> {
  readonly keyOf: (item: Item) => string | number;
  readonly digestOf: (item: Item) => string;
}

/** The same object is the same state; of another one the JSON decides. */
function differenceOf<Item>(before: readonly Item[], after: readonly Item[], { keyOf, digestOf }: Traits<Item>) {
  const gone = new Map(before.map((item) => [keyOf(item), item]));
  const updated: Item[] = [];
  for (const item of after) {
    const earlier = gone.get(keyOf(item));
    gone.delete(keyOf(item));
    if (earlier === item) continue;
    if (earlier === undefined || digestOf(earlier) !== digestOf(item)) updated.push(item);
  }
  return { updated, removed: [...gone.values()] };
}

/** So many frames, and bytes of them, are remembered; the newest always is. */
const FRAMES = 1000;
const BYTES = 1024 * 1024;

/** The latest changes of a channel, numbered without gaps. */
export interface Journal {
  /** The number of the newest change; before the first one, where the numbering begins. */
  readonly latest: number;
  /** Without a frame: the change is too long to be remembered, and with it all before. */
  append(frame: Buffer | undefined): void;
  /** The frames after that number; undefined when they are not remembered any more, or never were. */
  since(eventId: number): readonly Buffer[] | undefined;
}

export function createJournal(): Journal {
  const frames: Buffer[] = [];
  let latest = 1;
  let bytes = 0;

  function forget(): void {
    while (frames.length > 1 && (frames.length > FRAMES || bytes > BYTES)) bytes -= frames.shift()?.length ?? 0;
  }

  return {
    get latest() {
      return latest;
    },
    append(frame) {
      latest += 1;
      if (frame) {
        frames.push(frame);
        bytes += frame.length;
        forget();
        return;
      }
      frames.length = 0;
      bytes = 0;
    },
    since(eventId) {
      const missed = latest - eventId;
      return missed >= 0 && missed <= frames.length ? frames.slice(frames.length - missed) : undefined;
    },
  };
}
