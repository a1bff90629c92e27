import { createFlags, memoryStorage } from '@flags/core';
import { createFlagsApi, toFetchHandler } from '@flags/http';

/** In an application of Next.js this file is `app/flags/[...path]/route.ts`. */
const flags = await createFlags({ storage: memoryStorage() });
const handler = toFetchHandler(createFlagsApi(flags, { auth: 'none' }), { basePath: '/flags' });

export { handler as DELETE, handler as GET, handler as OPTIONS, handler as PATCH, handler as POST, handler as PUT };
