/*
 * Handlers for `consume`. They need nothing beside Node.
 */

export { auditLog } from './consumers/audit-log.js';
export { type SlackOptions, slack } from './consumers/slack.js';
export { type WebhookOptions, webhook } from './consumers/webhook.js';
