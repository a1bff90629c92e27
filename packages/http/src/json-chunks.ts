import { paced } from '@flags/core/integration';
import type { ReplySink } from './request.js';

/** The target length of a piece, in characters. One piece per item would cost more than the items. */
const PIECE_LENGTH = 8 * 1024;

type Items<Item> = Iterable<Item> | AsyncIterable<Item>;
type Pieces = AsyncGenerator<string, void>;

/** Generates the JSON of an array. Converts each item on demand. */
export function jsonArray<Item>(items: Items<Item>, toWire: (item: Item) => unknown): Pieces {
  return join(items, '[]', (item) => JSON.stringify(toWire(item)));
}

/** Generates the JSON of an array from items that are JSON texts. */
export function jsonTexts(texts: Items<string>): Pieces {
  return join(texts, '[]', (text) => text);
}

/** Generates the JSON of an object from name-value entries. Names may be any text. */
export function jsonMap<Value>(
  entries: Items<readonly [name: string, value: Value]>,
  toWire: (value: Value) => unknown,
): Pieces {
  return join(entries, '{}', ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(toWire(value))}`);
}

/** Generates the JSON of an object. Members may be generators, such as {@link jsonArray} or {@link jsonMap}. */
export async function* jsonObject(members: Readonly<Record<string, unknown>>): Pieces {
  let separator = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    if (isPieces(value)) yield* value;
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function isPieces(value: unknown): value is Pieces {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* join<Item>(items: Items<Item>, [open, close]: string, toText: (item: Item) => string): Pieces {
  let piece = open ?? '';
  let separator = '';
  for await (const item of items) {
    piece += separator + toText(item);
    separator = ',';
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece + close;
}

/** Generates the JSON of an array whose items are generators. */
export async function* jsonList(items: Iterable<Pieces>): Pieces {
  let separator = '';
  yield '[';
  for (const item of items) {
    if (separator !== '') yield separator;
    separator = ',';
    yield* item;
  }
  yield ']';
}

/** The number of items above which a list is generated in slices. Shorter lists are faster in one piece. */
const LONG_LIST = 500;

/** Returns an object with one list as the whole content of a reply. */
export function wholeList<Item>(
  name: string,
  items: readonly Item[],
  toWire: (item: Item) => unknown,
): { readonly body: unknown } | { readonly chunks: Pieces; readonly isWhole: true } {
  if (items.length <= LONG_LIST) return { body: { [name]: items.map(toWire) } };
  return { chunks: jsonObject({ [name]: jsonArray(items, toWire) }), isWhole: true };
}

/** The JSON text of a reply, generated in chunks while the reply is written. A chunk holds at most one document. */
export type JsonChunks = Iterable<string> | AsyncIterable<string>;

/** The maximum length of a slice, in characters. */
const SLICE_LENGTH = 64 * 1024;

/**
 * The maximum length of a buffered reply, in characters. Buffered replies have a content length and a content hash as
 * their tag; longer replies are streamed.
 */
export const COLLECTED_LENGTH = 1024 * 1024;

/** The response cache stores lists up to this length, in characters. */
export const CACHED_LENGTH = 4 * COLLECTED_LENGTH;

/** A long text with its first slices generated. Call `rest.return()` if you do not write it. */
export interface StartedText {
  readonly first: readonly string[];
  readonly rest: Slices;
}

/** Generates the slices of a text. */
export interface Slices extends AsyncIterable<string> {
  return(): Promise<unknown>;
}

/** Returns the whole text up to a length, else a started text. */
export async function collectChunks(chunks: JsonChunks, longest = COLLECTED_LENGTH): Promise<string | StartedText> {
  const first: string[] = [];
  const rest = slicesOf(chunks);
  for (let length = 0; length <= longest; ) {
    const slice = await rest.next();
    if (slice.done) return first.join('');
    first.push(slice.value);
    length += slice.value.length;
  }
  return { first, rest };
}

/** Joins short chunks and splits long ones. */
async function* slicesOf(chunks: JsonChunks): AsyncGenerator<string, void, void> {
  let text = '';
  for await (const chunk of paced(chunks)) {
    text += chunk;
    for (; text.length > SLICE_LENGTH; text = text.slice(SLICE_LENGTH)) yield text.slice(0, SLICE_LENGTH);
  }
  if (text !== '') yield text;
}

/**
 * Writes a long body after the head, with backpressure: generates a slice after the client has taken the previous one.
 * Stops when the client disconnects. An error destroys the connection, so that the client cannot mistake a truncated
 * body for a complete one.
 */
export async function writeSlices(sink: ReplySink, { first, rest }: StartedText): Promise<void> {
  const write = createSliceWriter(sink);
  try {
    for (const slice of first) if (!(await write(slice))) return;
    for await (const slice of rest) if (!(await write(slice))) return;
    sink.end();
  } catch (error) {
    sink.destroy();
    throw error;
  } finally {
    await rest.return();
  }
}

/** Creates a function that writes one slice. It resolves to false when the client has disconnected. */
function createSliceWriter(sink: ReplySink): (slice: string) => Promise<boolean> {
  let proceed: () => void = () => undefined;
  // Each response gets one listener: compression middleware replaces `on`, but not `off`.
  sink.on('drain', () => proceed());
  sink.on('close', () => proceed());
  sink.on('error', () => undefined);

  function taken(): Promise<void> {
    return new Promise((resolve) => {
      proceed = resolve;
    });
  }

  return async (slice) => {
    if (sink.destroyed) return false;
    if (!sink.write(slice)) await taken();
    return !sink.destroyed;
  };
}
