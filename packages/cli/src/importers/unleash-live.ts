import { reasonOf } from '../connection.js';
import { CommandError } from '../errors.js';
import { listOf, type Members, membersOf, textOf } from './importer.js';

/** Requests to the server at the same time. */
const AT_ONCE = 4;

/**
 * Reads projects, segments and flags over the admin API of an Unleash server, archived flags included. Returns them as
 * an export would have them.
 *
 * @throws CommandError
 */
export async function readUnleash(address: string, token: string | undefined): Promise<Members> {
  const base = address.replace(/(?<!\/)\/+$/, '').replace(/\/api(\/admin)?$/, '');
  const get = async (path: string, isOptional = false): Promise<Members> => {
    const url = `${base}/api/admin${path}`;
    let response: Response;
    try {
      response = await fetch(url, { headers: { accept: 'application/json', ...(token && { authorization: token }) } });
    } catch (error) {
      throw new CommandError(`${base} cannot be reached (${reasonOf(error)}).`);
    }
    if (response.status === 404 && isOptional) return {};
    if (response.status === 401 || response.status === 403) {
      throw new CommandError(`${base} refuses the token for ${path}: give an admin token by --source-token.`);
    }
    if (!response.ok)
      throw new CommandError(`${base} answered ${response.status} to ${path}. Is it an Unleash server?`);
    return membersOf(await response.json().catch(() => undefined));
  };
  const projects = listOf((await get('/projects')).projects);
  // Older servers without segments answer 404.
  const segments = listOf((await get('/segments', true)).segments);
  const refs: { readonly project: string; readonly name: string }[] = [];
  for (const { id } of projects) {
    const project = `${id}`;
    const path = `/projects/${encodeURIComponent(project)}/features`;
    for (const { name } of listOf((await get(path)).features)) refs.push({ project, name: `${name}` });
  }
  for (const { project, name } of listOf((await get('/archive/features', true)).features)) {
    refs.push({ project: textOf(project) ?? 'default', name: `${name}` });
  }
  const features: Members[] = [];
  for (let start = 0; start < refs.length; start += AT_ONCE) {
    const batch = refs.slice(start, start + AT_ONCE).map(async ({ project, name }) => {
      const path = `/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;
      const feature = await get(path);
      const { tags } = await get(`/features/${encodeURIComponent(name)}/tags`, true);
      return { ...feature, project, tags };
    });
    features.push(...(await Promise.all(batch)));
  }
  return { version: 4, projects, segments, features };
}
