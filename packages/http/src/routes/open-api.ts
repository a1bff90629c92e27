import { type Route, route } from '../route.js';

export const openApiRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/admin/openapi.json',
    action: 'getOpenApi',
    summary: 'This API as an OpenAPI document',
    tag: 'OpenAPI',
    access: 'admin',
    reply: { status: 200, schema: 'OpenApiDocument' },
    errors: [],
    handle: async ({ openApi }) => ({ serialized: openApi() }),
  }),
];
