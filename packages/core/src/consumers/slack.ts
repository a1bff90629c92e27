import { groupBy } from '../base/collections.js';
import { compareStates } from '../base/parts.js';
import { UNPRINTABLE } from '../base/printable.js';
import { shorten } from '../errors.js';
import { APPROVAL_POLICY } from '../features/change-requests/policy.js';
import { ALL_KINDS, type EventType } from '../kinds.js';
import { compareByEvents } from '../log/differences.js';
import type { FlagsEvent } from '../log/event.types.js';
import { holdsDocument } from '../log/event-log.js';
import {
  describeDifferences,
  describeDocument,
  differenceText,
  nameStrategies,
} from '../words/describe-differences.js';
import { describeRequestEvent } from '../words/describe-request.js';
import { describeRolloutEvent } from '../words/describe-rollout.js';
import type { ConsumerHandler } from './consumer.types.js';
import { filterByType, parseReceiver, post, sendInOrder, TIMEOUT } from './sending.js';

/** Options of `slack`. */
export interface SlackOptions {
  /** The types of events to tell. Default: all. */
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

/**
 * Returns a handler for `consume` that posts one message per change set to an incoming webhook of Slack, or of a program that
 * accepts the same: who changed what, from which value to which, and why. The words are those of the history. A change
 * request is a sentence: who asks for approval of what, who has decided about it, and why it failed.
 *
 * The handler throws unless the answer is 2xx within 15 seconds, so that the message is repeated.
 *
 * @param url the incoming webhook. A secret: whoever has it can post
 * @throws FlagsError `invalid_input`
 * @example
 * const link = ({ project, flag }: FlagsEvent) => flag && `https://example.org/flags/ui/projects/${project}/flags/${flag}`;
 * const { SLACK_URL = '' } = process.env;
 * await flags.consume('slack', slack(SLACK_URL, { events: ['environment-enabled'], link }));
 */
export function slack(url: string, { events, link = () => undefined }: SlackOptions = {}): ConsumerHandler {
  const receiver = parseReceiver(url);
  const isWanted = filterByType(events);
  const headers = { 'content-type': 'application/json' };
  return sendInOrder({
    itemsOf: (batch) => [...groupBy(batch.filter(isWanted), ({ changeSet }) => changeSet).values()],
    send(set, signal) {
      const body = JSON.stringify({ text: describeSet(set, link) });
      return post({ url: receiver, headers, body, timeout: TIMEOUT }, signal);
    },
  });
}

function describeSet(set: readonly FlagsEvent[], link: NonNullable<SlackOptions['link']>): string {
  const sentences = set.flatMap((event) => {
    const sentence = describeRequestEvent(event);
    return sentence === undefined ? [] : [linked(shorten(sentence, LONGEST_LINE), link(event))];
  });
  const lines = set
    .filter((event) => describeRequestEvent(event) === undefined && !isPartOfRollout(event, set))
    .flatMap((event) => describeEvent(event).map((line) => `• ${titleOf(event, link)}: ${line}`));
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

function titleOf(event: FlagsEvent, link: NonNullable<SlackOptions['link']>): string {
  return linked(describeDocument(documentOf(event)), link(event));
}

function linked(text: string, address: string | null | undefined): string {
  const title = escapeText(text);
  return address == null ? title : `<${escapeText(address).replaceAll('|', '%7C')}|${title}>`;
}

/** Whether another event of the set tells the percentage that this one sets. */
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
function describeEvent(event: FlagsEvent): readonly string[] {
  const { data, before, type, environment } = event;
  const rollout = describeRolloutEvent(event);
  if (rollout !== undefined) return [escapeText(shorten(`${environment} · ${rollout}`, LONGEST_LINE))];
  const parts = holdsDocument(type) ? compareStates(before, data) : compareByEvents([event]);
  const names = { strategies: nameStrategies([before, data]) };
  const described = describeDifferences({ ...documentOf(event), parts }, names);
  const lines = described.map((difference) => escapeText(shorten(differenceText(difference), LONGEST_LINE)));
  return lines.length > 0 ? lines : [type.replaceAll('-', ' ')];
}

/** People know a segment and a token by name. A change request and a rollout have none. The settings are one document. */
function documentOf({ type, flag, project, data, before }: FlagsEvent): { readonly kind: string; readonly id: string } {
  const kind = ALL_KINDS.find(({ documents }) => type in documents.events)?.documents.kind ?? 'document';
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
