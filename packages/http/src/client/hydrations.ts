import { nextTurn } from '@flags/core/integration/shared';
import { type Pieces, slicesOf } from '../messages/json.js';
import { ownBytes } from '../messages/reply.js';

/** The number of channels whose full state is kept. */
const CHANNELS = 20;
/** The maximum bytes of all kept states, including those that clients are still reading. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The encoded full state of a channel. */
interface Hydration {
  readonly eventId: number;
  /** Undefined if it does not fit: then each client generates its own. */
  slices?: Promise<readonly Buffer[] | undefined>;
  bytes: number;
  /** The number of clients that read it, and one more while the channel keeps it. The bytes are freed at 0. */
  holders: number;
}

export type Hydrations = ReturnType<typeof createHydrations>;

/**
 * Keeps the full state of channels as bytes, so that clients that reconnect together cost one encoding. The bytes count until
 * the last client has taken them. A state that does not fit is generated for each client.
 */
export function createHydrations() {
  const kept = new Map<string, Hydration>();
  let bytes = 0;

  function release(hydration: Hydration): void {
    hydration.holders -= 1;
    if (hydration.holders === 0) drop(hydration);
  }

  function drop(hydration: Hydration): void {
    bytes -= hydration.bytes;
    hydration.bytes = 0;
  }

  async function encode(hydration: Hydration, pieces: Pieces): Promise<readonly Buffer[] | undefined> {
    const slices: Buffer[] = [];
    for await (const slice of slicesOf(pieces)) {
      const encoded = ownBytes(slice);
      if (hydration.holders === 0 || bytes + encoded.length > MAX_BYTES) {
        drop(hydration);
        return undefined;
      }
      bytes += encoded.length;
      hydration.bytes += encoded.length;
      slices.push(encoded);
    }
    return slices;
  }

  function hydrationOf(channel: string, eventId: number, generate: () => Pieces): Hydration | undefined {
    const known = kept.get(channel);
    if (known) return known.eventId === eventId ? known : undefined;
    if (kept.size >= CHANNELS) return undefined;
    const hydration: Hydration = { eventId, bytes: 0, holders: 1 };
    hydration.slices = encode(hydration, generate());
    kept.set(channel, hydration);
    return hydration;
  }

  return {
    /** Returns the message with the full state of a channel at an event. `generate` makes it for one client. */
    async *frame(channel: string, eventId: number, generate: () => Pieces): AsyncGenerator<string | Buffer, void> {
      const hydration = hydrationOf(channel, eventId, generate);
      if (!hydration) {
        yield* slicesOf(generate());
        return;
      }
      hydration.holders += 1;
      try {
        const slices = await hydration.slices;
        if (slices === undefined) yield* slicesOf(generate());
        for (const slice of slices ?? []) {
          // A thousand clients may have waited for the same state. Writing it to all of them would be one long turn.
          await nextTurn();
          yield slice;
        }
      } finally {
        release(hydration);
      }
    },
    /** Drops the state of a channel. Clients that are reading it continue. */
    forget(channel: string): void {
      const hydration = kept.get(channel);
      kept.delete(channel);
      if (hydration) release(hydration);
    },
  };
}
