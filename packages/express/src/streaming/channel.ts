import { randomBytes } from 'node:crypto';
import type { Flags } from '@flags/core';
import { contentsOf } from '../client/contents.js';
import type { View } from '../client/view.js';
import { changesBetween } from './delta.js';
import { type Frame, hydrationFrame, updateFrame } from './frames.js';
import { createJournal } from './journal.js';
import type { Listener } from './listener.js';

/** All clients that see the same: each change is found and written down once for all of them. */
export interface Channel {
  readonly listeners: ReadonlyMap<Listener, unknown>;
  /** Sends what the client has missed since it was here, or everything when that cannot be told. */
  join(listener: Listener, lastEventId: string | undefined): void;
  leave(listener: Listener): void;
  /** Sends what a client has not been sent; one that is too far behind is cut off, and comes back for everything. */
  deliver(listener: Listener): void;
  /** Looks for changes, and sends them. */
  advance(): void;
}

/** @throws FlagsError `environment_not_found` */
export function createChannel(flags: Flags, view: View): Channel {
  // Another one after a restart, and in every channel: numbers of others mean nothing here.
  const name = randomBytes(8).toString('hex');
  const journal = createJournal();
  const positions = new Map<Listener, number>();
  let configuration = flags.configuration(view);
  let contents = contentsOf(configuration, view);
  let hydration: Frame | undefined;

  const placeAt = (eventId: number) => ({ id: `${name}-${eventId}`, eventId });

  function catchUp(): void {
    const present = flags.configuration(view);
    if (present === configuration) return;
    const earlier = contents;
    configuration = present;
    contents = contentsOf(present, view);
    const changes = changesBetween(earlier, contents);
    if (changes.length === 0) return;
    journal.append(updateFrame(changes, placeAt(journal.latest + 1)));
    hydration = undefined;
  }

  function missedSince(lastEventId: string | undefined): readonly Frame[] | undefined {
    const [, channel, eventId] = /^([0-9a-f]+)-(\d{1,15})$/.exec(lastEventId ?? '') ?? [];
    return channel === name ? journal.since(Number(eventId)) : undefined;
  }

  function hydrate(): Frame {
    hydration ??= hydrationFrame(contents, placeAt(journal.latest));
    return hydration;
  }

  function deliver(listener: Listener): void {
    const position = positions.get(listener);
    if (position === undefined) return;
    const missed = journal.since(position);
    if (missed === undefined) listener.cut();
    if (missed === undefined || !listener.isReady) return;
    positions.set(listener, journal.latest);
    listener.send(missed);
  }

  return {
    listeners: positions,
    join(listener, lastEventId) {
      catchUp();
      positions.set(listener, journal.latest);
      listener.send(missedSince(lastEventId) ?? [hydrate()]);
    },
    leave: (listener) => void positions.delete(listener),
    deliver,
    advance() {
      catchUp();
      for (const listener of positions.keys()) deliver(listener);
    },
  };
}
