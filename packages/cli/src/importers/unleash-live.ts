import { fetchInTime, readBody, reasonOf, withoutTrailingSlashes } from '../connection.js';
import { CommandError } from '../output.js';
import { listOf, type Members, membersOf, textOf } from './importer.js';

/** Requests to the server at the same time. */
const AT_ONCE = 4;

/** The number of archived flags in one request, and in all requests. */
const PAGE = 100;
const MOST_ARCHIVED = 100_000;

/** Reads a path of the admin API. An optional path that does not exist is empty. */
type Get = (path: string, isOptional?: boolean) => Promise<Members>;

/**
 * Reads projects, segments and flags over the admin API of an Unleash server, with the names and tags of archived flags.
 * Returns them in the format of an export.
 *
 * @throws CommandError
 */
export async function readUnleash(address: string, token: string | undefined): Promise<Members> {
  const get = createGet(address, token);
  const projects = listOf((await get('/projects')).projects);
  // Older servers without segments answer 404.
  const segments = listOf((await get('/segments', true)).segments);
  const listed: Members[] = [];
  for (const { id } of projects) {
    const { features } = await get(`/projects/${encodeURIComponent(`${id}`)}/features`);
    for (const flag of listOf(features)) listed.push({ ...flag, project: id });
  }
  const live = await inBatches(listed, (flag) => readFlag(get, flag));
  const archived = await inBatches(await listArchived(get), async (flag) => {
    return { ...flag, archived: true, environments: [], tags: await readTags(get, flag) };
  });
  return { version: 4, projects, segments, features: [...live, ...archived] };
}

function createGet(address: string, token: string | undefined): Get {
  const base = withoutTrailingSlashes(address).replace(/\/api(\/admin)?$/, '');
  return async (path, isOptional = false) => {
    const url = `${base}/api/admin${path}`;
    let response: Response;
    try {
      const headers = { accept: 'application/json', ...(token && { authorization: token }) };
      response = await fetchInTime(url, { headers });
    } catch (error) {
      throw new CommandError(`${base} cannot be reached (${reasonOf(error)}).`);
    }
    if (response.status === 404 && isOptional) return {};
    if (response.status === 401 || response.status === 403) {
      throw new CommandError(`${base} refuses the token for ${path}: give an admin token by --source-token.`);
    }
    if (!response.ok)
      throw new CommandError(`${base} answered ${response.status} to ${path}. Is it an Unleash server?`);
    const text = await readBody(response, base);
    try {
      return membersOf(JSON.parse(text));
    } catch {
      return {};
    }
  };
}

async function inBatches<Item, Result>(items: readonly Item[], read: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(read))));
  }
  return results;
}

/** Version 8 lists archived flags by its search only. No version shows their strategies with the flag. */
async function listArchived(get: Get): Promise<readonly Members[]> {
  const { features } = await get('/archive/features', true);
  if (features !== undefined) return listOf(features);
  const found: Members[] = [];
  const names = new Set<unknown>();
  for (;;) {
    const query = `archived=IS:true&sortBy=name&limit=${PAGE}&offset=${found.length}`;
    const page = listOf((await get(`/search/features?${query}`, true)).features);
    found.push(...page);
    if (page.length < PAGE) return found;
    const known = names.size;
    for (const { name } of page) names.add(name);
    if (names.size === known || found.length >= MOST_ARCHIVED) {
      throw new CommandError('The server sends an endless list of archived flags. Is it an Unleash server?');
    }
  }
}

async function readFlag(get: Get, listed: Members): Promise<Members> {
  const path = `/projects/${encodeURIComponent(`${listed.project}`)}/features/${encodeURIComponent(`${listed.name}`)}`;
  const [flag, tags] = [await get(path), await readTags(get, listed)];
  const environments = listOf(flag.environments);
  // Versions 5 to 7 merge the variants of all environments here, and version 8 leaves them out.
  const merged = listOf(flag.variants);
  const overviews = new Map(listOf(listed.environments).map((one) => [one.name, one]));
  const own = await Promise.all(
    environments.map(async ({ name }) => {
      if ((overviews.get(name)?.variantCount ?? merged.length) === 0) return [];
      return (await get(`${path}/environments/${encodeURIComponent(`${name}`)}/variants`, true)).variants;
    }),
  );
  return {
    ...flag,
    project: listed.project,
    tags,
    variants: own.includes(undefined) ? merged : [],
    environments: environments.map((environment, index) => {
      // The list has the switch itself. Version 5 shows a flag without strategies as off here, and evaluates it as on.
      const enabled = overviews.get(environment.name)?.enabled ?? environment.enabled;
      return { ...environment, enabled, variants: own[index] ?? [] };
    }),
  };
}

async function readTags(get: Get, { name }: Members): Promise<unknown> {
  return (await get(`/features/${encodeURIComponent(`${textOf(name)}`)}/tags`, true)).tags;
}
