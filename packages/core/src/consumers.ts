/*
 * Handlers for `consume`. They need nothing beside Node.
 */

import type { ConsumerHandler } from './features/consumers/consumer.types.js';
import { createSlackHandler, type SlackOptions } from './features/consumers/slack.js';
import { createWebhookHandler, type WebhookOptions } from './features/consumers/webhook.js';
import { REGISTRY } from './features.js';

export { auditLog } from './features/consumers/audit-log.js';
export type { SlackOptions } from './features/consumers/slack.js';
export type { WebhookOptions } from './features/consumers/webhook.js';

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
export function slack(url: string, options: SlackOptions = {}): ConsumerHandler {
  return createSlackHandler(REGISTRY, url, options);
}

/**
 * Returns a handler for `consume` that sends each event to a receiver, signed by the scheme of Standard Webhooks. The request
 * has the body `{ type, timestamp, data }`; `data` is the event as `GET /api/admin/events` shows it. An event of a change
 * request also has `text`, a sentence for people: "Ada asks for approval: checkout on in production"; and `link`, if that
 * option returns an address. States over 64 KiB are left out: `data.omitted` then names the members. A repetition has the
 * same `webhook-id`, so the receiver can drop it.
 *
 * The handler throws unless the receiver answers 2xx in time, so that the event is repeated. It follows no redirects. After
 * a 410 it sends nothing more to that receiver until the consumer is reset or the process starts again, and says so.
 *
 * @throws FlagsError `invalid_input`
 * @example
 * const { WEBHOOK_SECRET = '' } = process.env;
 * await flags.consume('deploys', webhook({ url: 'https://example.org/hooks', secret: WEBHOOK_SECRET }));
 */
export function webhook(options: WebhookOptions): ConsumerHandler {
  return createWebhookHandler(REGISTRY, options);
}
