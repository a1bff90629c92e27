import type { FlagConfiguration, SegmentConfiguration } from '@flags/core';
import { type ClientDocument, clientFlagToWire, clientSegmentToWire } from '../client/client-document.js';
import { ownBytes } from '../reply.js';

/** A message of the stream: a buffer that all clients of a channel share, or a long message. */
export type Frame = Buffer | LongFrame;

/** A long message for one client. It generates each part after the client has taken the previous one. */
export interface LongFrame {
  /** Returns the next part; undefined at the end. */
  next(): Buffer | undefined;
}

/** An event position: `eventId` counts within a channel, and `id` includes the channel's name. */
interface EventPosition {
  readonly id: string;
  readonly eventId: number;
}

/** A comment line. It prevents proxies and clients from closing an idle connection. */
export const HEARTBEAT: Buffer = Buffer.from(':\n\n');

/** The maximum length of a stored update, in characters. Clients get the full state in place of a longer one. */
const MAX_UPDATE_LENGTH = 1024 * 1024;

/** Returns the message with these changes; undefined when it is too long. */
export function updateFrame(changes: readonly Change[], { id, eventId }: EventPosition): Buffer | undefined {
  let events = '';
  for (const change of changes) {
    events += `${events === '' ? '' : ','}${changeText(change, eventId)}`;
    if (events.length > MAX_UPDATE_LENGTH) return undefined;
  }
  const [start, end] = envelopeOf('unleash-updated', id);
  return ownBytes(start + events + end);
}

/** Returns the text around the events of a message. JSON has no line breaks, so an event's data is one line. */
function envelopeOf(event: string, id: string): readonly [start: string, end: string] {
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

/** One update that a client applies to reach the next state. */
export type Change =
  | { readonly type: 'segment-updated'; readonly segment: SegmentConfiguration }
  | { readonly type: 'feature-updated'; readonly flag: FlagConfiguration }
  | { readonly type: 'feature-removed'; readonly flag: FlagConfiguration }
  | { readonly type: 'segment-removed'; readonly segment: SegmentConfiguration };

/** What may have changed in the configuration of an environment. */
export interface ChangedNames {
  readonly flags: ReadonlySet<string>;
  /** Ids. */
  readonly segments: ReadonlySet<number>;
}

/**
 * Returns the updates that lead from one document to the next, in an order that never leaves a flag without its segment.
 * A segment also comes and goes with the flags that use it.
 */
export function changesBetween(
  before: ClientDocument,
  after: ClientDocument,
  changed: ChangedNames,
): readonly Change[] {
  const flags = after.flags.filter(({ name }) => changed.flags.has(name));
  const updated = new Set(flags.map(({ name }) => name));
  const removed = before.flags.filter(({ name }) => changed.flags.has(name) && !updated.has(name));
  const [former, current] = [before, after].map(({ segments }) => new Set(segments.map(({ id }) => id)));
  const segments = after.segments.filter(({ id }) => changed.segments.has(id) || !former?.has(id));
  return [
    ...segments.map((segment) => ({ type: 'segment-updated', segment }) as const),
    ...flags.map((flag) => ({ type: 'feature-updated', flag }) as const),
    ...removed.map((flag) => ({ type: 'feature-removed', flag }) as const),
    ...before.segments
      .filter(({ id }) => !current?.has(id))
      .map((segment) => ({ type: 'segment-removed', segment }) as const),
  ];
}

/** The limits of a journal, in frames and bytes. The newest frame always remains. */
const MAX_FRAMES = 1000;
const MAX_BYTES = 1024 * 1024;

/** The latest changes of a channel, numbered without gaps. */
interface Journal {
  /** The number of the newest change, or the initial number. */
  readonly latest: number;
  /** Appends a change. Without a frame, the change is too long: the journal drops it and all earlier frames. */
  append(frame: Buffer | undefined): void;
  /** Returns the frames after that number; undefined when the journal does not have them. */
  since(eventId: number): readonly Buffer[] | undefined;
}

export function createJournal(): Journal {
  const frames: Buffer[] = [];
  let latest = 1;
  let bytes = 0;

  function forget(): void {
    while (frames.length > 1 && (frames.length > MAX_FRAMES || bytes > MAX_BYTES)) bytes -= frames.shift()?.length ?? 0;
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

/** The target length of a part, in characters. Shorter texts are joined. */
const PART_LENGTH = 64 * 1024;

/** Returns the message with the full state, generated at the client's pace. */
export function hydrationFrame(document: ClientDocument, position: EventPosition): LongFrame {
  const parts = partsOf(document, position);
  return { next: () => parts.next().value };
}

function* partsOf(document: ClientDocument, position: EventPosition): Generator<Buffer, undefined> {
  let part = '';
  for (const text of textsOf(document, position)) {
    if (typeof text === 'string') part += text;
    if (part !== '' && (typeof text !== 'string' || part.length >= PART_LENGTH)) {
      yield ownBytes(part);
      part = '';
    }
    if (typeof text !== 'string') yield text;
  }
  if (part !== '') yield ownBytes(part);
  return undefined;
}

/** Generates the JSON of the message in pieces. Long pieces are buffers that all clients share. */
function* textsOf({ flags, segments }: ClientDocument, { id, eventId }: EventPosition): Generator<string | Buffer> {
  const [start, end] = envelopeOf('unleash-connected', id);
  yield `${start}{"type":"hydration","eventId":${eventId},"features":[`;
  yield* separated(flags, sharedFlagText);
  yield '],"segments":[';
  yield* separated(segments, sharedSegmentText);
  yield `]}${end}`;
}

function* separated<Item>(items: readonly Item[], toText: (item: Item) => string | Buffer): Generator<string | Buffer> {
  for (const [index, item] of items.entries()) {
    if (index > 0) yield ',';
    yield toText(item);
  }
}

function flagText(flag: FlagConfiguration): string {
  return JSON.stringify(clientFlagToWire(flag));
}

function segmentText(segment: SegmentConfiguration): string {
  return JSON.stringify(clientSegmentToWire(segment));
}

const sharedFlagText = shareLongTexts(flagText);
const sharedSegmentText = shareLongTexts(segmentText);

/**
 * Shares long texts as buffers, so that slow clients do not each hold a copy. A weak reference releases the buffer with
 * its last client.
 */
function shareLongTexts<Item extends object>(toText: (item: Item) => string): (item: Item) => string | Buffer {
  const shared = new WeakMap<Item, WeakRef<Buffer>>();
  return (item) => {
    const sharedBuffer = shared.get(item)?.deref();
    if (sharedBuffer) return sharedBuffer;
    const text = toText(item);
    if (text.length < PART_LENGTH) return text;
    const bytes = ownBytes(text);
    shared.set(item, new WeakRef(bytes));
    return bytes;
  };
}
