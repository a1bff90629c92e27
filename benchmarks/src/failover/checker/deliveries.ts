import type { CheckOptions } from './check.js';
import type { Delivery, History, LoggedEvent, Reset, Subscription, Violation } from './history.js';

type SubscriberEntry = Subscription | Delivery | Reset;

/** Every event once and in the order of the log, at the subscriber of each node. */
export function checkDeliveries({ entries, events }: History, options: CheckOptions): readonly Violation[] {
  const subscribers = new Map<string, SubscriberEntry[]>();
  const ended = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === 'view' && entry.isLast) ended.add(entry.node);
    const isReset = entry.kind === 'reset' && entry.of === 'subscriber';
    if (entry.kind !== 'subscribed' && entry.kind !== 'event' && !isReset) continue;
    subscribers.set(entry.node, [...(subscribers.get(entry.node) ?? []), entry]);
  }
  return [...subscribers].flatMap(([node, one]) => {
    return checkSubscriber(one, { events, isEnded: ended.has(node), mayLose: options.mayLose ?? false }) ?? [];
  });
}

interface Expectation {
  readonly events: readonly LoggedEvent[];
  /** Whether the node had time to get the last event. */
  readonly isEnded: boolean;
  readonly mayLose: boolean;
}

function checkSubscriber(
  entries: readonly SubscriberEntry[],
  { events, isEnded, mayLose }: Expectation,
): Violation | undefined {
  const indexes = new Map(events.map(({ key }, index) => [key, index]));
  const positionOf = (after: string | undefined) => (after === undefined ? -1 : indexes.get(after));
  let last: SubscriberEntry | undefined;
  let next = 0;
  let lost: SubscriberEntry | undefined;
  for (const entry of entries) {
    const isStart = entry.kind === 'subscribed' || (entry.kind === 'reset' && mayLose);
    if (isStart) lost = undefined;
    const index = entry.kind === 'event' ? indexes.get(entry.key) : positionOf(entry.after);
    if (index === undefined && mayLose) {
      // The store loses this event later, and the subscriber must be told.
      lost = entry;
      continue;
    }
    if (!isStart && index !== next && !lost) return outOfOrder(last, entry, events[next]);
    next = (index ?? -1) + 1;
    last = entry;
  }
  if (lost) {
    const message = `the subscriber of ${lost.node} got an event that the store has lost, and was not told`;
    return { rule: 'event lost, doubled or out of order', message, evidence: [lost] };
  }
  if (isEnded && next < events.length) return outOfOrder(last, undefined, events[next]);
  return undefined;
}

function outOfOrder(
  last: SubscriberEntry | undefined,
  entry: SubscriberEntry | undefined,
  expected: LoggedEvent | undefined,
): Violation {
  const got = entry?.kind === 'event' ? `event ${entry.key}` : 'nothing';
  const message = `the subscriber of ${(entry ?? last)?.node} got ${got} instead of ${expected?.key ?? 'nothing'}`;
  const evidence = [last, entry, expected].filter((one) => one !== undefined);
  return { rule: 'event lost, doubled or out of order', message, evidence };
}
