import { setImmediate } from 'node:timers/promises';
import type { Storage, StoredEvent } from '../../storage/port.js';
import { eventsOf } from './samples.js';

/** What a reader sees that polls in small pages while the writers run, and once more when they are done. */
export async function feedWhile(
  storage: Storage,
  writers: readonly (() => Promise<void>)[],
): Promise<readonly StoredEvent[]> {
  const seen: StoredEvent[] = [];
  await readWhile(writers, () => readOn(storage, seen));
  while ((await readOn(storage, seen)) > 0);
  return seen;
}

/** What a reader is given that reads again and again while the writers run. */
export async function readWhile<T>(
  writers: readonly (() => Promise<void>)[],
  read: () => Promise<T>,
): Promise<readonly T[]> {
  const given: T[] = [];
  let writing = true;
  const written = Promise.all(writers.map((write) => write())).finally(() => {
    writing = false;
  });
  // A failing writer must not surface as an unhandled rejection while the reader is still busy.
  written.catch(() => undefined);
  while (writing) {
    given.push(await read());
    await setImmediate();
  }
  await written;
  return given;
}

async function readOn(storage: Storage, seen: StoredEvent[]): Promise<number> {
  const last = seen.at(-1);
  const page = await eventsOf(storage, { limit: 7, ...(last ? { after: last.position } : {}) });
  seen.push(...page);
  return page.length;
}
