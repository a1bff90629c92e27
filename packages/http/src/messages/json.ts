import { paced } from '@flags/core/integration/http';

/*
 * Writes JSON, in pieces where it is long: a reply is sent while the rest of it is generated.
 */

/** JSON text that is generated while the reply is written. A piece holds at most one item of a list. */
export type Pieces = AsyncGenerator<string, void>;

/** The items of a list: all of them, or page by page. */
type Items<Item> = Iterable<Item> | AsyncIterable<readonly Item[]>;

/** The target length of a piece, in characters. One piece per item would cost more than the items. */
const PIECE_LENGTH = 8 * 1024;

/** Generates the JSON of an array. Converts each item on demand. */
export function jsonArray<Item>(items: Items<Item>, toWire: (item: Item) => unknown = (item) => item): Pieces {
  return join(items, ['[', ']'], (item) => jsonOf(toWire(item)));
}

/** Generates the JSON of an array from items that are JSON texts. */
export function jsonTexts(texts: readonly string[]): Pieces {
  return join(texts, ['[', ']'], (text) => text);
}

/** Generates the JSON of an object from name-value entries. Names may be any text. */
export function jsonMap(entries: Iterable<readonly [name: string, value: unknown]>): Pieces {
  return join(entries, ['{', '}'], ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
}

/** Returns the JSON of a value: as text, or in pieces if the value or one of its members is generated in pieces. */
export function jsonOf(value: unknown): string | Pieces {
  if (isPieces(value)) return value;
  const hasPieces = typeof value === 'object' && value !== null && Object.values(value).some(isPieces);
  return hasPieces ? jsonObject(value) : JSON.stringify(value);
}

/** Returns the JSON of a value in pieces. */
export function piecesOf(value: unknown): Pieces {
  const json = jsonOf(value);
  return typeof json === 'string' ? join([json], ['', ''], (text) => text) : json;
}

function isPieces(value: unknown): value is Pieces {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* jsonObject(members: object): Pieces {
  let separator = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    if (isPieces(value)) yield* value;
    else yield JSON.stringify(value);
    separator = ',';
  }
  yield '}';
}

async function* join<Item>(
  items: Items<Item>,
  [open, close]: readonly [open: string, close: string],
  toText: (item: Item) => string | Pieces,
): Pieces {
  let piece = open;
  let separator = '';
  for await (const page of Symbol.asyncIterator in items ? items : [items]) {
    for (const item of page) {
      const text = toText(item);
      piece += separator;
      separator = ',';
      if (typeof text === 'string') piece += text;
      if (typeof text === 'string' && piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
      if (typeof text !== 'string') yield* text;
    }
  }
  yield piece + close;
}

/** The maximum length of a slice, in characters. A shorter slice is the last one. */
export const SLICE_LENGTH = 64 * 1024;

/** A long text with its first slices generated. Call `rest.return()` if you do not write it. */
export interface StartedText {
  readonly first: readonly string[];
  readonly rest: AsyncGenerator<string | Uint8Array, void>;
}

/**
 * Returns the whole text if it has at most the given length, else its first slices and an iterator of the rest.
 *
 * @param beforeRest awaited after the first slice, if it is not the last
 */
export async function collectPieces(
  pieces: AsyncIterable<string>,
  longest: number,
  beforeRest?: () => Promise<void>,
): Promise<string | StartedText> {
  const first: string[] = [];
  const rest = slicesOf(pieces);
  try {
    for (let length = 0; length <= longest; ) {
      const slice = await rest.next();
      if (slice.done) return first.join('');
      if (length === 0 && slice.value.length === SLICE_LENGTH) await beforeRest?.();
      first.push(slice.value);
      length += slice.value.length;
    }
  } catch (error) {
    await rest.return();
    throw error;
  }
  return { first, rest };
}

/** Joins short pieces and splits long ones. */
export async function* slicesOf(pieces: AsyncIterable<string> | Iterable<string>): Pieces {
  let text = '';
  for await (const piece of paced(pieces)) {
    text += piece;
    for (; text.length > SLICE_LENGTH; text = text.slice(SLICE_LENGTH)) yield text.slice(0, SLICE_LENGTH);
  }
  if (text !== '') yield text;
}
