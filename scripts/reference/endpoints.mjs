// The endpoints, from the rows of the routes.
import { code, table } from './markdown.mjs';
import { load } from './source.mjs';

export async function endpoints() {
  const { GROUPS } = await load('packages/http/src/routes.ts');
  const { permissionOf } = await load('packages/http/src/actions.ts');
  const sections = GROUPS.map(({ tag, description, routes }) => {
    const rows = routes.map(({ method, path, action, summary }) => {
      const permission = permissionOf(action);
      return [method, code(path), permission ? code(permission) : 'none', summary];
    });
    return `## ${tag}\n\n${description}\n\n${table(['Method', 'Path', 'Action', 'Meaning'], rows)}`;
  });
  return `# Endpoints

Every method and path of the HTTP API. Paths are relative to the mount of the router. ${code(':featureName')} is a flag's name. _Action_ is what the
router asks ${code('authorize')} for: [roles](roles.md).

${code('/api/admin/openapi.json')} is this API as OpenAPI 3.1, with bodies, parameters and errors. A follower has the endpoints outside of
${code('/api/admin')}. Their responses have the header ${code('Flags-Depth')}: 0 for an engine, 1 for a follower of one, and so on.

${sections.join('\n')}`;
}
