import type { Flags } from '@flags/core';
import { createFlagsApi, toFetchHandler } from '@flags/http';
import { Hono } from 'hono';

/** An application of Hono with a page of its own; the flags are under `/internal/flags`. */
export function createApp(flags: Flags): Hono {
  const app = new Hono();
  const handler = toFetchHandler(createFlagsApi(flags, { auth: 'token' }), { basePath: '/internal/flags' });
  app.all('/internal/flags/*', (context) => handler(context.req.raw));
  app.get('/', (context) => context.text('The shop.'));
  return app;
}
