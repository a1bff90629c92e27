import { createFlagsApi, toFetchHandler } from '@flags/http';
import { getFlags } from '../../../lib/flags';

type Handler = (request: Request) => Promise<Response>;

let handler: Promise<Handler> | undefined;

async function createHandler(): Promise<Handler> {
  return toFetchHandler(createFlagsApi(await getFlags(), { auth: 'token' }), { basePath: '/flags' });
}

async function handle(request: Request): Promise<Response> {
  handler ??= createHandler();
  return (await handler)(request);
}

export { handle as DELETE, handle as GET, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT };
