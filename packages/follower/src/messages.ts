import {
  type ClientDocument,
  type ReportProblem,
  readClientDocument,
  readClientFlag,
  readClientSegment,
} from '@flags/core/integration/follower';
import { isObject } from '@flags/core/integration/shared';
import type { FlagConfiguration, SegmentConfiguration } from '@flags/core/types';
import type { EventSourceMessage } from 'eventsource-parser';
import { definedValues, type FollowedChange } from './state.js';

/** A message of a stream: everything, or the changes since the last message. */
export type FollowedMessage = { readonly document: ClientDocument } | { readonly change: FollowedChange };

interface OpenChange extends FollowedChange {
  readonly flags: Map<string, FlagConfiguration | undefined>;
  readonly segments: Map<number, SegmentConfiguration | undefined>;
}

/** Reads the events of a message. Throws for an event that it does not know, because a change could be missed. */
export function readMessage(data: Readonly<Record<string, unknown>>, report: ReportProblem): FollowedMessage {
  const { events } = data;
  if (!Array.isArray(events)) throw new TypeError('events must be a list');
  let document: ClientDocument | undefined;
  let change: OpenChange = { flags: new Map(), segments: new Map() };
  for (const event of events as readonly unknown[]) {
    if (isObject(event) && event.type === 'hydration') {
      document = readClientDocument(event, report);
      change = { flags: new Map(), segments: new Map() };
    } else readEvent(event, change, report);
  }
  return document ? { document: withChange(document, change) } : { change };
}

function readEvent(event: unknown, { flags, segments }: OpenChange, report: ReportProblem): void {
  const { type, feature, featureName, segment, segmentId } = Object(event) as Readonly<Record<string, unknown>>;
  if (type === 'feature-updated') {
    const flag = readClientFlag(feature, report);
    if (flag) flags.set(flag.name, flag);
  } else if (type === 'feature-removed' && typeof featureName === 'string') flags.set(featureName, undefined);
  else if (type === 'segment-updated') {
    const { id } = Object(segment) as { readonly id?: unknown };
    const read = readClientSegment(segment, report);
    // An unreadable segment still replaces the former one.
    if (typeof id === 'number') segments.set(id, read);
  } else if (type === 'segment-removed' && typeof segmentId === 'number') segments.set(segmentId, undefined);
  else throw new TypeError(`the event ${String(type).slice(0, 50)} is unknown`);
}

function withChange(document: ClientDocument, { flags, segments }: FollowedChange): ClientDocument {
  return {
    flags: [...document.flags.filter(({ name }) => !flags.has(name)), ...definedValues(flags)],
    segments: [...document.segments.filter(({ id }) => !segments.has(id)), ...definedValues(segments)],
  };
}

/** The event of the message that contains all flags. */
const CONNECTED = 'unleash-connected';
/** A message with changes. */
const UPDATED = 'unleash-updated';

/**
 * Throws unless this is the message after the one with the last id. Only servers of ours number their messages.
 *
 * @param last the id of the last message; undefined if the connection began without one
 */
export function assertNext({ event, id }: EventSourceMessage, last: string | undefined): void {
  if (event === CONNECTED) return;
  if (event !== UPDATED) throw new TypeError(`the message ${String(event).slice(0, 50)} is unknown`);
  if (last === undefined) throw new TypeError('changes come before the flags');
  const [, channel, number] = POSITION.exec(last) ?? [];
  const expected = channel === undefined ? undefined : `${channel}-${Number(number) + 1}`;
  const isNext = expected === undefined ? !POSITION.test(id ?? '') : id === expected;
  if (!isNext) throw new TypeError('a message is missing, or came twice');
}

/** The id of a message: its channel, and its number there. */
const POSITION = /^([0-9a-f]+)-(\d{1,15})$/;
