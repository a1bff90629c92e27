import { createPace, nextTurn } from './coalesce-per-tick.js';
import type { ReplySink } from './request.js';

/** The JSON text of a reply, generated in chunks while the reply is written. A chunk holds at most one document. */
export type JsonChunks = Iterable<string> | AsyncIterable<string>;

/** The maximum length of a slice, in characters. */
const SLICE_LENGTH = 64 * 1024;

/**
 * The maximum length of a buffered reply, in characters. Buffered replies have a content length and a content hash as
 * their tag; longer replies are streamed.
 */
export const COLLECTED_LENGTH = 1024 * 1024;

/** A long text with its first slices generated. Call `rest.return()` if nobody writes it. */
export interface StartedText {
  readonly first: readonly string[];
  readonly rest: AsyncGenerator<string, void>;
}

/** Returns the whole text up to a length, else a started text. Yields to the event loop between slices. */
export async function collectChunks(chunks: JsonChunks, longest = COLLECTED_LENGTH): Promise<string | StartedText> {
  const rest = slicesOf(chunks);
  const first: string[] = [];
  let length = 0;
  for (let slice = await rest.next(); !slice.done; slice = await rest.next()) {
    first.push(slice.value);
    length += slice.value.length;
    if (length > longest) return { first, rest };
    if (first.length > 1) await nextTurn();
  }
  return first.join('');
}

/** Joins short chunks and splits long ones. Each slice takes one event-loop turn. */
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
    // With a fast client, `drain` fires before any other request runs. This yield lets other requests run.
    await nextTurn();
    return !sink.destroyed;
  };
}
