import { type Contents, flagText, segmentText } from '../client/view.js';
import { ownBytes } from '../reply.js';
import { type EventPosition, envelopeOf, type LongFrame } from './frames.js';

/** The target length of a part, in characters. Shorter texts are joined. */
const PART_LENGTH = 64 * 1024;

/** Returns the message with the full state, generated at the client's pace. */
export function hydrationFrame(contents: Contents, position: EventPosition): LongFrame {
  const parts = partsOf(contents, position);
  return { next: () => parts.next().value };
}

function* partsOf(contents: Contents, position: EventPosition): Generator<Buffer, undefined> {
  let part = '';
  for (const text of textsOf(contents, position)) {
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
function* textsOf({ flags, segments }: Contents, { id, eventId }: EventPosition): Generator<string | Buffer> {
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
