import type { Flags } from '@flags/core';
import { createFlagsApi, toNodeHandler } from '@flags/http';
import fastify, { type FastifyInstance } from 'fastify';

/** An application of Fastify with a page of its own; the flags are under `/internal/flags`. */
export function createApp(flags: Flags): FastifyInstance {
  const app = fastify();
  const api = createFlagsApi(flags, { auth: 'token' });
  const handler = toNodeHandler(api, { basePath: '/internal/flags' });
  // Ends open streams, for which app.close() would wait.
  app.addHook('preClose', async () => api.close());

  // Before Fastify reads bodies. Other paths continue to the routes of the application, errors to its error handler.
  app.addHook('onRequest', (request, reply, done) => {
    handler(request.raw, reply.raw, (error) => done(error as Error | undefined)).catch(done);
  });

  app.get('/', async () => 'The shop.');
  return app;
}
