import type { ServerResponse } from 'node:http';
import type { StartedText } from './chunks.js';
import { nextTurn } from './turns.js';

/**
 * Writes a long text after the head, at the client's pace: the next slice is made when the one before was taken. Stops when
 * the client leaves. An error breaks the connection off, so that no client takes the part for the whole.
 */
export async function writeSlices(response: ServerResponse, { first, rest }: StartedText): Promise<void> {
  const write = createSliceWriter(response);
  try {
    for (const slice of first) if (!(await write(slice))) return;
    for await (const slice of rest) if (!(await write(slice))) return;
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    await rest.return();
  }
}

/** Resolves to false when the client has left. */
function createSliceWriter(response: ServerResponse): (slice: string) => Promise<boolean> {
  let proceed: () => void = () => undefined;
  // One listener per response: middleware that compresses replaces `on`, but not `off`.
  response.on('drain', () => proceed());
  response.on('close', () => proceed());
  response.on('error', () => undefined);

  function taken(): Promise<void> {
    return new Promise((resolve) => {
      proceed = resolve;
    });
  }

  return async (slice) => {
    if (response.destroyed) return false;
    if (!response.write(slice)) await taken();
    // A fast client takes a slice at once, and `drain` comes before any other request.
    await nextTurn();
    return !response.destroyed;
  };
}
