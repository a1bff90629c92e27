import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsProvider, typedClient } from '@flags/openfeature';
import { OpenFeature } from '@openfeature/server-sdk';
import { createApp } from './app.js';
import { schema } from './schema.js';

/** Tests the statements of this example's README. The compiler tests the lines below `@ts-expect-error`. */
const problems: string[] = [];
const flags = await openFlags({
  storage: memoryStorage(),
  schema,
  declare: 'create',
  onDrift: () => undefined,
  onProblem: ({ message }) => problems.push(message),
});
const ref = { project: 'default', environment: 'production' };
for (const flag of ['checkout', 'banner', 'greeting'] as const) {
  await flags.addStrategy({ ...ref, flag }, { name: 'default' });
  await flags.enable({ ...ref, flag });
}
const [strategy] = (await flags.getFlag({ ...ref, flag: 'checkout' })).environments[1]?.strategies ?? [];
await flags.updateStrategy(
  { ...ref, flag: 'checkout', strategy: String(strategy?.id) },
  { constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] },
);
await flags.setVariants({ ...ref, flag: 'banner' }, [
  { name: 'red', payload: { type: 'json', value: '{"color":"#f00"}' } },
]);

const server = createApp(flags).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const get = async (path: string) => (await fetch(origin + path)).json();

await check('request.flags knows the declared flags and the plan', async () => {
  assert.deepEqual(await get('/?plan=pro'), { checkout: 'new', color: '#f00' });
  assert.deepEqual(await get('/?plan=free'), { checkout: 'old', color: '#f00' });
});

await OpenFeature.setProviderAndWait(createFlagsProvider(flags));
const client = typedClient(schema, OpenFeature.getClient());

await check('clients of OpenFeature know the declared flags', async () => {
  assert.equal(await client.getBooleanValue('checkout', false, { targetingKey: '7', plan: 'pro' }), true);
  assert.deepEqual(await client.getObjectValue('banner', { color: 'none' }), { color: '#f00' });
  // @ts-expect-error: not a value of the property
  await client.getBooleanValue('checkout', false, { plan: 'gold' });
  // @ts-expect-error: not a flag of the schema
  await client.getBooleanValue('chekout', false);
  // @ts-expect-error: the payload of this flag is an object
  await client.getStringValue('banner', '');
  assert.equal(await client.getStringValue('greeting', 'Hello'), 'Hello');
});

await check('a payload that does not fit falls back, and is reported', async () => {
  await flags.setVariants({ ...ref, flag: 'banner' }, [{ name: 'red', payload: { type: 'json', value: '{}' } }]);
  const reason = 'The payload of variant red of flag banner does not match its declaration: /color must be string.';
  assert.deepEqual(await get('/'), { checkout: 'old', color: 'none' });
  assert.deepEqual(problems, [reason]);
  const { errorCode, errorMessage, value } = await client.getObjectDetails('banner', { color: 'none' });
  assert.deepEqual([errorCode, errorMessage, value], ['PARSE_ERROR', reason, { color: 'none' }]);
});

server.close();
server.closeAllConnections();
await OpenFeature.close();
await flags.close();

async function check(fact: string, body: () => Promise<void>): Promise<void> {
  await body();
  console.log(`ok: ${fact}`);
}
