import type { TypedFlags } from '@flags/core';
import { flagsMiddleware } from '@flags/express';
import '@flags/express/request';
import express, { type Express } from 'express';
import type { schema } from './schema.js';

/** The shop. `request.flags` knows the declared flags. */
export function createApp(flags: TypedFlags<typeof schema>): Express {
  const app = express();
  app.use(flagsMiddleware(flags, ({ query }) => ({ userId: '7', plan: query.plan === 'pro' ? 'pro' : 'free' })));
  app.get('/', (request, response) => {
    const checkout = request.flags.isEnabled('checkout') ? 'new' : 'old';
    const color = request.flags.getPayload('banner')?.color ?? 'none';
    response.json({ checkout, color });
  });
  app.get('/misspelt', (request, response) => {
    // @ts-expect-error: not a flag of the schema
    response.json(request.flags.isEnabled('chekout'));
  });
  // @ts-expect-error: not a plan
  flagsMiddleware(flags, () => ({ plan: 'gold' }));
  return app;
}
