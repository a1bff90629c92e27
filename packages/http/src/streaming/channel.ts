import { randomBytes } from 'node:crypto';
import type { Flags } from '@flags/core';
import { COLLECTED_LENGTH } from '../chunks.js';
import { contentsOf } from '../client/documents.js';
import type { View } from '../client/view.js';
import type { ResponseCache } from '../response-cache.js';
import { type Change, changesBetween, createJournal, type Frame, type LongFrame, updateFrame } from './frames.js';
import { hydrationFrame } from './hydration.js';
import type { Listener } from './listener.js';

/** All clients that see the same: each change is found and written down once for all of them. */
export interface Channel {
  readonly listeners: ReadonlyMap<Listener, unknown>;
  /** Sends what the client has missed since it was here, or everything when that cannot be told. */
  join(listener: Listener, lastEventId: string | undefined): void;
  leave(listener: Listener): void;
  /** The number of the latest change. */
  readonly latest: number;
  /**
   * Sends what a client has not been sent, up to that change, or everything when the changes are not remembered. A client
   * that is too far behind while it takes what it was sent before is cut off, and comes back for everything.
   */
  deliver(listener: Listener, latest: number): void;
  /** Looks for changes. */
  advance(): void;
}

/** What a client is sent first; without bytes it is too long to be shared. */
export interface Hydration {
  readonly bytes?: Buffer;
}

/** @throws FlagsError `environment_not_found` */
export function createChannel(flags: Flags, view: View, cache: ResponseCache<Hydration>): Channel {
  // Another one after a restart, and in every channel: numbers of others mean nothing here.
  const name = randomBytes(8).toString('hex');
  const journal = createJournal();
  const positions = new Map<Listener, number>();
  const followed = followContents(flags, view);
  const placeAt = (eventId: number) => ({ id: `${name}-${eventId}`, eventId });

  function catchUp(): void {
    const changes = followed.changes();
    if (changes.length === 0) return;
    journal.append(updateFrame(changes, placeAt(journal.latest + 1)));
  }

  /** All clients share a short one. A long one is made for each, as it is taken. */
  function hydrate(): Frame {
    const version = `${journal.latest}`;
    const make = () => hydrationFrame(followed.contents(), placeAt(journal.latest));
    const known = cache.get(name, version);
    if (known) return known.bytes ?? make();
    const bytes = joinShort(make());
    cache.set(name, version, bytes ? { bytes } : {});
    return bytes ?? make();
  }

  function deliver(listener: Listener, latest: number): void {
    const position = positions.get(listener);
    if (position === undefined || position >= latest) return;
    const missed = journal.since(position);
    if (!listener.isReady) {
      if (missed === undefined) listener.cut();
      return;
    }
    positions.set(listener, missed ? latest : journal.latest);
    listener.send(missed?.slice(0, latest - position) ?? [hydrate()]);
  }

  return {
    listeners: positions,
    join(listener, lastEventId) {
      catchUp();
      positions.set(listener, journal.latest);
      const eventId = eventIdOf(name, lastEventId);
      const missed = eventId === undefined ? undefined : journal.since(eventId);
      listener.send(missed ?? [hydrate()]);
    },
    leave: (listener) => void positions.delete(listener),
    get latest() {
      return journal.latest;
    },
    deliver,
    advance: catchUp,
  };
}

/** The whole message; undefined when it is too long. */
function joinShort(frame: LongFrame): Buffer | undefined {
  const parts: Buffer[] = [];
  let length = 0;
  for (let part = frame.next(); part; part = frame.next()) {
    parts.push(part);
    length += part.length;
    if (length > COLLECTED_LENGTH) return undefined;
  }
  // Not of the pool that other buffers share: it is kept.
  const whole = Buffer.allocUnsafeSlow(length);
  let place = 0;
  for (const part of parts) place += part.copy(whole, place);
  return whole;
}

/** The number of an event of this channel; undefined for those of others. */
function eventIdOf(channel: string, id = ''): number | undefined {
  const [, name, eventId] = /^([0-9a-f]+)-(\d{1,15})$/.exec(id) ?? [];
  return name === channel ? Number(eventId) : undefined;
}

/** What the clients see, and what has changed of it since the last look. */
function followContents(flags: Flags, view: View) {
  let configuration = flags.configuration(view);
  let contents = contentsOf(configuration, view);
  return {
    contents: () => contents,
    changes(): readonly Change[] {
      const present = flags.configuration(view);
      if (present === configuration) return [];
      const earlier = contents;
      configuration = present;
      contents = contentsOf(present, view);
      return changesBetween(earlier, contents);
    },
  };
}
