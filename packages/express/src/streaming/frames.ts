import type { Contents } from '../client/contents.js';
import { flagText, segmentText } from '../client/texts.js';
import { ownBytes } from '../own-bytes.js';
import type { Change } from './delta.js';

/** A message of the stream, ready to be sent to every client of a channel. */
export type Frame = Buffer;

/** Where a client is: `eventId` counts within a channel, `id` names the channel too. */
export interface Place {
  readonly id: string;
  readonly eventId: number;
}

/** A comment: it keeps proxies and clients from taking the connection for dead. */
export const HEARTBEAT: Frame = Buffer.from(':\n\n');

/** Everything there is. */
export function hydrationFrame({ flags, segments }: Contents, { id, eventId }: Place): Frame {
  const features = flags.map(flagText).join();
  const hydration = `{"type":"hydration","eventId":${eventId},"features":[${features}],"segments":[${segments.map(segmentText).join()}]}`;
  return frame('unleash-connected', id, hydration);
}

/** What has changed since the frame before. */
export function updateFrame(changes: readonly Change[], { id, eventId }: Place): Frame {
  return frame('unleash-updated', id, changes.map((change) => changeText(change, eventId)).join());
}

/** JSON has no line breaks, so an event's data is one line. */
function frame(event: string, id: string, events: string): Frame {
  return ownBytes(`id:${id}\nevent:${event}\ndata:{"events":[${events}]}\n\n`);
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
