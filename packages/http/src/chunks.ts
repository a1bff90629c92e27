import { createPace, nextTurn } from './coalesce-per-tick.js';
import type { ReplySink } from './request.js';

/** The JSON text of an answer, in pieces that are made while it is written. No piece is longer than one document. */
export type JsonChunks = Iterable<string> | AsyncIterable<string>;

/** The longest slice, in characters. */
const SLICE_LENGTH = 64 * 1024;

/** Answers up to this length are collected: they get a length, and a tag of their content. Longer ones are streamed. */
export const COLLECTED_LENGTH = 1024 * 1024;

/** A long text of which the first slices are made. Call `rest.return()` if it is not written. */
export interface StartedText {
  readonly first: readonly string[];
  readonly rest: AsyncGenerator<string, void>;
}

/** Makes the whole text if it is short. Leaves the event loop to other requests between slices. */
export async function collectChunks(chunks: JsonChunks): Promise<string | StartedText> {
  const rest = slicesOf(chunks);
  const first: string[] = [];
  let length = 0;
  for (let slice = await rest.next(); !slice.done; slice = await rest.next()) {
    first.push(slice.value);
    length += slice.value.length;
    if (length > COLLECTED_LENGTH) return { first, rest };
    if (first.length > 1) await nextTurn();
  }
  return first.join('');
}

/** Joins short pieces and cuts long ones. A slice takes one turn to make. */
async function* slicesOf(chunks: JsonChunks): AsyncGenerator<string, void> {
  const isTurnOver = createPace();
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    for (; text.length > SLICE_LENGTH; text = text.slice(SLICE_LENGTH)) yield text.slice(0, SLICE_LENGTH);
    if (!isTurnOver()) continue;
    if (text !== '') yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/**
 * Writes a long text after the head, at the client's pace: the next slice is made when the one before was taken. Stops when
 * the client leaves. An error breaks the connection off, so that no client takes the part for the whole.
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

/** Resolves to false when the client has left. */
function createSliceWriter(sink: ReplySink): (slice: string) => Promise<boolean> {
  let proceed: () => void = () => undefined;
  // One listener per response: middleware that compresses replaces `on`, but not `off`.
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
    // A fast client takes a slice at once, and `drain` comes before any other request.
    await nextTurn();
    return !sink.destroyed;
  };
}
