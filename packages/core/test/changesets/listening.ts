import { randomUUID } from 'node:crypto';
import type { FlagsEvent } from '../../src/kernel/log/event.types.js';
import type { FlagsStorage } from '../../src/storage/port.js';

/** Commits one event of a flag with this name. */
export async function happen(storage: FlagsStorage, id: string, data = id): Promise<void> {
  const key = { kind: 'flag', id };
  const expected = (await storage.get(key))?.revision ?? 0;
  const at = '2026-01-01T00:00:00.000Z';
  await storage.commit({
    writes: [{ key, expected, parent: 'shop', body: { id }, summary: { id } }],
    events: [
      {
        type: 'flag-updated',
        at,
        actor: 'ada',
        changeSet: randomUUID(),
        subject: key,
        project: 'shop',
        environment: null,
        data,
        before: null,
      },
    ],
  });
}

/** A listener that records the names of its events. */
export function hearing() {
  const heard: (string | null)[] = [];
  return {
    heard,
    listener: (event: FlagsEvent): void => {
      heard.push(event.flag);
    },
  };
}
