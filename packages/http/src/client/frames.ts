import { clientFlagToWire, clientSegmentToWire } from '@flags/core/integration/http';
import { jsonArray, jsonOf, type Pieces } from '../messages/json.js';
import { ownBytes } from '../messages/reply.js';
import { type ClientDocument, flagToWire, segmentToWire } from './client-document.js';

/** An event position: `eventId` counts within a channel, and `id` includes the channel's name. */
interface EventPosition {
  readonly id: string;
  readonly eventId: number;
}

/** The maximum length of a stored update, in characters. Clients get the full state in place of a longer one. */
const MAX_UPDATE_LENGTH = 1024 * 1024;

/** Returns the message with these changes; undefined when it is too long. */
export function updateFrame(changes: Iterable<object>, { id, eventId }: EventPosition): Buffer | undefined {
  const events: string[] = [];
  let length = 0;
  for (const change of changes) {
    const event = JSON.stringify({ eventId, ...change });
    length += event.length;
    if (length > MAX_UPDATE_LENGTH) return undefined;
    events.push(event);
  }
  const [start, end] = envelopeOf('unleash-updated', id);
  return ownBytes(start + events.join(',') + end);
}

/** Returns the text around the events of a message. JSON has no line breaks, so an event's data is one line. */
function envelopeOf(event: string, id: string): readonly [start: string, end: string] {
  return [`id:${id}\nevent:${event}\ndata:{"events":[`, ']}\n\n'];
}

/** Generates the message with the full state. */
export async function* hydrationFrame({ flags, segments }: ClientDocument, { id, eventId }: EventPosition): Pieces {
  const [start, end] = envelopeOf('unleash-connected', id);
  yield start;
  const features = jsonArray(flags, (flag) => flagToWire(flag));
  yield* jsonOf({ type: 'hydration', eventId, features, segments: jsonArray(segments, segmentToWire) });
  yield end;
}

/** The possible changes in the configuration of an environment. */
export interface ChangedNames {
  readonly flags: ReadonlySet<string>;
  /** Ids. */
  readonly segments: ReadonlySet<number>;
}

/**
 * Generates the updates that lead from one document to the next, in an order that never leaves a flag without its
 * segment. A segment also comes and goes with the flags that use it.
 */
export function* changesBetween(
  before: ClientDocument,
  after: ClientDocument,
  changed: ChangedNames,
): Generator<object> {
  const former = new Set(before.segments.map(({ id }) => id));
  const current = new Set(after.segments.map(({ id }) => id));
  const flags = new Set(after.flags.map(({ name }) => name));
  for (const segment of after.segments) {
    if (!changed.segments.has(segment.id) && former.has(segment.id)) continue;
    yield { type: 'segment-updated', segment: clientSegmentToWire(segment) };
  }
  for (const flag of after.flags) {
    if (changed.flags.has(flag.name)) yield { type: 'feature-updated', feature: clientFlagToWire(flag) };
  }
  for (const { name, project } of before.flags) {
    if (changed.flags.has(name) && !flags.has(name)) yield { type: 'feature-removed', featureName: name, project };
  }
  for (const { id } of before.segments) if (!current.has(id)) yield { type: 'segment-removed', segmentId: id };
}

/** The limits of a journal, in frames and bytes. The newest frame always remains. */
const MAX_FRAMES = 1000;
const MAX_BYTES = 1024 * 1024;

/** The latest changes of a channel, numbered without gaps. */
export class Journal {
  /** The number of the newest change, or the initial number. */
  latest = 1;
  private frames: Buffer[] = [];
  private bytes = 0;

  /** Appends a change. Without a frame, the change is too long: the journal drops it and all earlier frames. */
  append(frame: Buffer | undefined): void {
    this.latest += 1;
    this.frames = frame ? [...this.frames, frame] : [];
    this.bytes = frame ? this.bytes + frame.length : 0;
    while (this.frames.length > 1 && (this.frames.length > MAX_FRAMES || this.bytes > MAX_BYTES)) {
      this.bytes -= this.frames.shift()?.length ?? 0;
    }
  }

  /** Returns the frames after that number; undefined when the journal does not have them. */
  since(eventId: number): readonly Buffer[] | undefined {
    const missed = this.latest - eventId;
    return missed >= 0 && missed <= this.frames.length ? this.frames.slice(this.frames.length - missed) : undefined;
  }
}
