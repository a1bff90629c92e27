import type { EventType, Flags, FlagsEvent } from '../src/index.js';

/** The events that an action appends, in the order of the log. */
export async function eventsOf(flags: Flags, action: () => Promise<unknown>): Promise<readonly FlagsEvent[]> {
  const { total: before } = await flags.events.list({ limit: 0 });
  await action();
  const { items: events, total } = await flags.events.list({ limit: 1000 });
  return events.slice(0, total - before).reverse();
}

export async function factsOf(flags: Flags, action: () => Promise<unknown>): Promise<readonly EventType[]> {
  return (await eventsOf(flags, action)).map(({ type }) => type);
}
