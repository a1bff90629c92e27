import type { Consumer } from '@flags/core';
import type { ConsumerReset } from '@flags/core/types';
import { CONSUMER, CONSUMERS } from '../../api/paths.js';
import { listReply } from '../../api/query.js';
import { route, TOO_LARGE } from '../../api/route.js';
import { unchecked } from '../../messages/request.js';
import {
  count,
  example,
  listOf,
  nullableText,
  objectComponent,
  optionalTimestamp,
  strictObject,
} from '../../messages/schema.js';

const consumerSchema = objectComponent('Consumer', {
  name: example('webhook'),
  position: { ...nullableText, description: 'The last event that was consumed; null: the beginning of the log.' },
  lag: strictObject({
    events: { ...count, description: 'The number of events that follow, counted up to 1,000.' },
    ms: { ...count, description: 'The age of the oldest of them in milliseconds; 0 without one.' },
  }),
  error: { ...nullableText, description: 'The message of the last error of the handler; null after a success.' },
  node: { ...nullableText, description: 'The node that runs the consumer; null if none does.' },
  since: optionalTimestamp,
});

export function consumerToWire({ name, position, lag, error, node, since }: Consumer) {
  return { name, position, lag, error, node, since };
}

/** Durable consumers belong to the instance: they read the events of all projects. */
export const consumerRoutes = [
  route('GET', CONSUMERS, 'listConsumers', {
    summary: 'List the consumers of events with their lag, ordered by name',
    paged: 'optional',
    reply: objectComponent('ConsumerList', { consumers: listOf(consumerSchema) }),
    handle: ({ flags, query }) =>
      listReply(query, {
        page: (page) => flags.consumers.list(page),
        toWire: consumerToWire,
        body: (consumers) => ({ consumers }),
      }),
  }),
  route('POST', `${CONSUMER}/reset`, 'resetConsumer', {
    summary: 'Move a consumer to the newest event, or to the beginning of the log',
    body: 'consumerReset',
    errors: ['consumer_not_found'],
    never: TOO_LARGE,
    handle: ({ flags, params, body }) =>
      flags.consumers.reset({ consumer: params.name }, unchecked<ConsumerReset>(body)),
  }),
  route('DELETE', CONSUMER, 'deleteConsumer', {
    summary: 'Delete a consumer; nodes end it, and it exists again when a node starts it again',
    errors: ['consumer_not_found'],
    handle: ({ flags, params }) => flags.consumers.delete({ consumer: params.name }),
  }),
];
