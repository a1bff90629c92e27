import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage, openFlags } from '@flags/core';
import { createFlagsRouter } from '@flags/express';
import express from 'express';

/*
 * The process that has the flags. It prints the two variables for the other one, and switches the flag on and off every
 * two seconds.
 */

const checkout = { project: 'default', flag: 'checkout', environment: 'production' };

const flags = await openFlags({ storage: memoryStorage() });
await flags.createFlag({ project: 'default' }, { name: 'checkout' });
await flags.addStrategy(checkout, { name: 'default' });
const { secret } = await flags.tokens.create({ name: 'followers', kind: 'client', environment: 'production' });

const router = createFlagsRouter(flags, { auth: 'token' });
const server = createServer(express().use('/flags', router)).listen(Number(process.env.PORT ?? 4242), '127.0.0.1');
await once(server, 'listening');

let isOn = false;
const timer = setInterval(() => {
  isOn = !isOn;
  void (isOn ? flags.enable(checkout) : flags.disable(checkout));
}, 2000);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);

const { port } = server.address() as AddressInfo;
console.log(`FLAGS_URL=http://127.0.0.1:${port}/flags FLAGS_TOKEN='${secret}' node examples/followers/dist/shop.js`);

function stop(): void {
  clearInterval(timer);
  router.close(); // ends open streams, for which the server would wait
  server.close(() => void flags.close());
}
