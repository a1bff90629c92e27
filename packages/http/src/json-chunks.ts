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

/** The number of items above which a list is generated in slices. Shorter lists are faster at once. */
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
