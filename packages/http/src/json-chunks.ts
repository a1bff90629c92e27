/** Items are joined to pieces of about this length: a piece each would cost more than the items. */
const PIECE_LENGTH = 8 * 1024;

type Items<Item> = Iterable<Item> | AsyncIterable<Item>;
type Pieces = AsyncGenerator<string, void>;

/** The JSON of an array: each item is converted when its turn comes. */
export function jsonArray<Item>(items: Items<Item>, toWire: (item: Item) => unknown): Pieces {
  return join(items, '[]', (item) => JSON.stringify(toWire(item)));
}

/** The JSON of an array whose items are JSON already. */
export function jsonTexts(texts: Items<string>): Pieces {
  return join(texts, '[]', (text) => text);
}

/** The JSON of an object whose members are not known beforehand. Their names may be any text. */
export function jsonMap<Value>(
  entries: Items<readonly [name: string, value: Value]>,
  toWire: (value: Value) => unknown,
): Pieces {
  return join(entries, '{}', ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(toWire(value))}`);
}

/** The JSON of an object of which some members are made piece by piece, by {@link jsonArray} or {@link jsonMap}. */
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

/** The JSON of an array whose items are made piece by piece themselves. */
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
