import { flagText, segmentText } from '../client/texts.js';
import { ownBytes } from '../own-bytes.js';
import type { Change } from './delta.js';

/** A message of the stream: ready to be sent to every client of a channel, or too long for that. */
export type Frame = Buffer | LongFrame;

/** A message on its way to one client. Its parts are made when the client has taken those before. */
export interface LongFrame {
  /** The next part; undefined at the end. */
  next(): Buffer | undefined;
}

/** Where a client is: `eventId` counts within a channel, `id` names the channel too. */
export interface Place {
  readonly id: string;
  readonly eventId: number;
}

/** A comment: it keeps proxies and clients from taking the connection for dead. */
export const HEARTBEAT: Buffer = Buffer.from(':\n\n');

/** A longer update is not kept: clients get the whole state instead. */
const UPDATE_LENGTH = 1024 * 1024;

/** What has changed since the frame before; undefined when that is too long. */
export function updateFrame(changes: readonly Change[], { id, eventId }: Place): Buffer | undefined {
  let events = '';
  for (const change of changes) {
    events += `${events === '' ? '' : ','}${changeText(change, eventId)}`;
    if (events.length > UPDATE_LENGTH) return undefined;
  }
  const [start, end] = envelopeOf('unleash-updated', id);
  return ownBytes(start + events + end);
}

/** What stands around the events of a message. JSON has no line breaks, so an event's data is one line. */
export function envelopeOf(event: string, id: string): readonly [start: string, end: string] {
  return [`id:${id}\nevent:${event}\ndata:{"events":[`, ']}\n\n'];
}

function changeText(change: Change, eventId: number): string {
  const head = `{"type":"${change.type}","eventId":${eventId}`;
  switch (change.type) {
    case 'segment-updated':
      return `${head},"segment":${segmentText(change.segment)}}`;
    case 'feature-updated':
      return `${head},"feature":${flagText(change.flag)}}`;
    case 'feature-removed':
      return `${head},"featureName":${JSON.stringify(change.flag.name)},"project":${JSON.stringify(change.flag.project)}}`;
    case 'segment-removed':
      return `${head},"segmentId":${change.segment.id}}`;
  }
}
