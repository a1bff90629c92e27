import { groupBy } from '../../base/collections.js';
import { shorten } from '../../base/errors.js';
import { compareStates } from '../../base/parts.js';
import { UNPRINTABLE } from '../../base/printable.js';
import { compareByEvents } from '../../kernel/log/differences.js';
import type { FlagsEvent } from '../../kernel/log/event.types.js';
import type { Registry } from '../../kernel/registry.js';
import {
  describeDifferences,
  describeDocument,
  differenceText,
  nameStrategies,
} from '../../words/describe-differences.js';
import { describeRequestEvent } from '../../words/describe-request.js';
import { describeRolloutEvent } from '../../words/describe-rollout.js';
import type { EventType } from '../../words/event-names.js';
import { APPROVAL_POLICY } from '../change-requests/policy.js';
import type { ConsumerHandler } from './consumer.types.js';
import { filterByType, parseReceiver, post, sendInOrder, TIMEOUT } from './sending.js';

/** Options of `slack`. */
export interface SlackOptions {
  /** The types of events to post. Default: all. */
  readonly events?: readonly EventType[] | undefined;
  /**
   * Returns the address of an event's flag, project, segment, token or change request (`data.id`), as in your admin page;
   * null or undefined for none.
   * Default: no links.
   */
  readonly link?: ((event: FlagsEvent) => string | null | undefined) | undefined;
}

/** Lines of a message, and characters of a line. */
const [MOST_LINES, LONGEST_LINE] = [20, 1000];

/** Returns the handler of `slack`. */
export function createSlackHandler(
  registry: Registry,
  url: string,
  { events, link = () => undefined }: SlackOptions = {},
): ConsumerHandler {
  const receiver = parseReceiver(url);
  const isWanted = filterByType(registry, events);
  const headers = { 'content-type': 'application/json' };
  return sendInOrder({
    itemsOf: (batch) => [...groupBy(batch.filter(isWanted), ({ changeSet }) => changeSet).values()],
    send(set, signal) {
      const body = JSON.stringify({ text: describeSet(registry, set, link) });
      return post({ url: receiver, headers, body, timeout: TIMEOUT }, signal);
    },
  });
}

function describeSet(
  registry: Registry,
  set: readonly FlagsEvent[],
  linkTo: NonNullable<SlackOptions['link']>,
): string {
  const link = (text: string, event: FlagsEvent) => linked(text, linkTo(event));
  const sentences = set.flatMap((event) => {
    const sentence = describeRequestEvent(event);
    return sentence === undefined ? [] : [link(shorten(sentence, LONGEST_LINE), event)];
  });
  const lines = set
    .filter((event) => describeRequestEvent(event) === undefined && !isPartOfRollout(event, set))
    .flatMap((event) =>
      describeEvent(registry, event).map((line) => `• ${link(titleOf(registry, event), event)}: ${line}`),
    );
  const rest = lines.length - MOST_LINES;
  const [first] = set;
  return [
    ...sentences,
    ...(lines.length > 0 ? [`*${escapeText(first?.actor ?? '')}* changed:`] : []),
    ...lines.slice(0, MOST_LINES),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...(first?.reason ? [`_Why:_ ${escapeText(first.reason)}`] : []),
  ].join('\n');
}

function titleOf(registry: Registry, event: FlagsEvent): string {
  return describeDocument(documentOf(registry, event));
}

function linked(text: string, address: string | null | undefined): string {
  const title = escapeText(text);
  return address == null ? title : `<${escapeText(address).replaceAll('|', '%7C')}|${title}>`;
}

/** Whether another event of the set, that of a rollout, already says the percentage. */
function isPartOfRollout({ type, flag, environment, data }: FlagsEvent, set: readonly FlagsEvent[]): boolean {
  const { id } = Object(data) as { readonly id?: unknown };
  return (
    type === 'strategy-updated' &&
    set.some((other) => {
      const { strategy, reason } = Object(other.data) as { readonly strategy?: unknown; readonly reason?: unknown };
      const isMove = describeRolloutEvent(other) !== undefined && reason !== 'changed';
      return isMove && strategy === id && other.flag === flag && other.environment === environment;
    })
  );
}

/** Describes the difference that an event makes: one line per part. */
function describeEvent(registry: Registry, event: FlagsEvent): readonly string[] {
  const { data, before, type, environment } = event;
  const rollout = describeRolloutEvent(event);
  if (rollout !== undefined) return [escapeText(shorten(`${environment} · ${rollout}`, LONGEST_LINE))];
  const parts = registry.holdsDocument(type) ? compareStates(before, data) : compareByEvents(registry, [event]);
  const names = { strategies: nameStrategies([before, data]) };
  const described = describeDifferences({ ...documentOf(registry, event), parts }, names);
  const lines = described.map((difference) => escapeText(shorten(differenceText(difference), LONGEST_LINE)));
  return lines.length > 0 ? lines : [type.replaceAll('-', ' ')];
}

/** People know a segment and a token by name. A change request and a rollout have none. The settings are one document. */
function documentOf(
  { kinds }: Registry,
  { type, flag, project, data, before }: FlagsEvent,
): { readonly kind: string; readonly id: string } {
  const kind = kinds.find(({ documents }) => type in documents.events)?.documents.kind ?? 'document';
  const { name, id } = Object(data ?? before) as { readonly name?: unknown; readonly id?: unknown };
  return { kind, id: `${flag ?? (kind === 'project' ? project : (name ?? id ?? APPROVAL_POLICY))}` };
}

/** Escapes what Slack takes for links and mentions. Keeps a text on its line: it could imitate the lines of a message. */
function escapeText(text: string): string {
  const line = text.replaceAll(LINE_BREAKS, ' ').replaceAll(UNPRINTABLE, '');
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Line breaks, and other control characters. */
const LINE_BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
