import type { Flags } from '@flags/core';
import { inOrder, type Row, type Step } from '../row.js';
import { checkout } from '../states.js';

const CONSUMERS = '/api/admin/consumers';

/** The consumer audit, which has read nothing, and one event after its position. */
const audited: Step = inOrder(async (flags) => {
  const stop = await flags.consume('audit', () => undefined, { from: 'beginning' });
  await stop();
}, checkout);

const positionIn = async (flags: Flags) => (await flags.consumers.list()).items[0]?.position;

const AUDIT = { name: 'audit', error: null, node: null, since: null, position: null };

export const consumerRows: readonly Row[] = [
  {
    endpoint: 'listConsumers',
    name: 'lists consumers with their lag',
    given: audited,
    request: { method: 'GET', path: CONSUMERS },
    expect: {
      status: 200,
      unchanged: true,
      body: { consumers: [expect.objectContaining({ ...AUDIT, lag: { events: expect.any(Number), ms: 0 } })] },
    },
  },
  {
    endpoint: 'listConsumers',
    name: 'lists nothing before a node consumes events',
    request: { method: 'GET', path: CONSUMERS },
    expect: { status: 200, body: { consumers: [] } },
  },
  {
    endpoint: 'listConsumers',
    name: 'refuses a page of nothing',
    request: { method: 'GET', path: `${CONSUMERS}?limit=0` },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'resetConsumer',
    name: 'moves a consumer to the newest event',
    given: audited,
    request: { method: 'POST', path: `${CONSUMERS}/audit/reset`, body: { from: 'now' } },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect(await positionIn(flags)).toEqual(expect.any(String)),
    },
  },
  {
    endpoint: 'resetConsumer',
    name: 'moves a consumer to the beginning',
    given: async (flags) => {
      await checkout(flags);
      const stop = await flags.consume('audit', () => undefined);
      await stop();
    },
    request: { method: 'POST', path: `${CONSUMERS}/audit/reset`, body: { from: 'beginning' } },
    expect: { status: 200, body: null, afterwards: async (flags) => expect(await positionIn(flags)).toBeNull() },
  },
  {
    endpoint: 'resetConsumer',
    name: 'refuses another start',
    given: audited,
    request: { method: 'POST', path: `${CONSUMERS}/audit/reset`, body: { from: 'yesterday' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  {
    endpoint: 'resetConsumer',
    name: 'does not find an unknown consumer',
    given: audited,
    request: { method: 'POST', path: `${CONSUMERS}/unknown/reset`, body: { from: 'now' } },
    expect: { status: 404, code: 'consumer_not_found' },
  },
  {
    endpoint: 'deleteConsumer',
    name: 'deletes a consumer',
    given: audited,
    request: { method: 'DELETE', path: `${CONSUMERS}/audit` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect((await flags.consumers.list()).items).toEqual([]),
    },
  },
  {
    endpoint: 'deleteConsumer',
    name: 'does not find an unknown consumer',
    given: audited,
    request: { method: 'DELETE', path: `${CONSUMERS}/unknown` },
    expect: { status: 404, code: 'consumer_not_found' },
  },
];
