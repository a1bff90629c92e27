import { type FlagOverview, type FlagQuery, type Flags, FlagsError, isFlagsError } from '@flags/core';
import { createProjectFilter, firstPermittedProject } from '../auth.js';
import { unchecked } from '../body.js';
import { versionTag } from '../caching.js';
import { jsonArray, jsonObject, jsonTexts } from '../json-chunks.js';
import type { Principal } from '../permissions.js';
import { propertyOf, textsOfPage } from '../query.js';
import { type QueryParameter, type QueryValues, type Route, type RouteResult, route } from '../route.js';
import { labelsInQuery } from '../wire/tags.js';
import { FEATURES, TAG_PARAMETER } from './paths.js';

function flagOverviewToWire(flag: FlagOverview) {
  const { name, project, description, type, stale, archived, labels, owner, revision, createdAt, lastSeenAt } = flag;
  return {
    name,
    project,
    description,
    type,
    stale,
    archived,
    labels,
    owner,
    revision,
    createdAt,
    lastSeenAt,
    environments: flag.environments.map(
      ({ name, enabled, strategyCount, rollout, hasVariants, audience, offBecauseOf }) => {
        return { name, enabled, strategyCount, rollout, hasVariants, audience, offBecauseOf };
      },
    ),
  };
}

/** Revisions and sightings determine everything that a list shows of a flag, except whether a parent switches it off. */
function versionOf({ name, revision, lastSeenAt, environments }: FlagOverview): string {
  const parents = environments.map(({ offBecauseOf }) => offBecauseOf ?? '').join(' ');
  return `${name} ${revision} ${lastSeenAt} ${parents}`;
}

function filter(name: keyof FlagQuery, description: string): QueryParameter {
  return { name, description, schema: ({ flagQuery }) => propertyOf(flagQuery, name) };
}

function repeatable(name: keyof FlagQuery, description: string): QueryParameter {
  return {
    name,
    description,
    schema({ flagQuery }) {
      const { items, maxItems } = propertyOf(flagQuery, name);
      return { type: 'array', items, maxItems };
    },
  };
}

const FILTERS: readonly QueryParameter[] = [
  filter('query', 'Part of the name, the description, a label or the owner, in any case of letters.'),
  repeatable('project', 'Only flags of these projects.'),
  filter('type', 'Only flags of this type.'),
  repeatable('label', 'Only flags that have one of these labels.'),
  filter('owner', 'Only flags of this owner.'),
  filter('stale', 'true: only stale flags; false: only others.'),
  filter('archived', 'true: only archived flags; otherwise only those that are not archived.'),
  filter('enabledIn', 'Only flags that are on in this environment.'),
  filter('namePrefix', 'Only flags whose names begin so.'),
  TAG_PARAMETER,
  filter('sort', 'The order, by name when absent; with - in front descending. Equal flags are in name order.'),
];

/** Converts a wire query to an engine query: tags are labels. */
export function flagQueryOf({ tag, ...query }: QueryValues): FlagQuery {
  const labels = labelsInQuery({ tag });
  if (labels === undefined) return unchecked<FlagQuery>(query);
  return unchecked<FlagQuery>({ ...query, label: [...unchecked<readonly string[]>(query.label ?? []), ...labels] });
}

/** Returns a page of at most 1 MiB. */
async function readPage(list: ListFlags, query: FlagQuery): Promise<RouteResult> {
  const { items, next, total } = await list(query);
  const texts = textsOfPage(items, flagOverviewToWire);
  // Only the engine knows the key of a page that is cut.
  if (texts.length < items.length) return readPage(list, { ...query, limit: texts.length });
  const chunks = jsonObject({ version: 1, features: jsonTexts(texts), total });
  return { chunks, next: next === undefined ? undefined : { after: next } };
}

async function readWhole(list: ListFlags, query: FlagQuery): Promise<RouteResult> {
  const { items, total } = await list(query);
  const chunks = jsonObject({ version: 1, features: jsonArray(items, flagOverviewToWire), total });
  return { chunks, etag: versionTag(items.map(versionOf)) };
}

export const featureRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: FEATURES,
    action: 'searchFlags',
    permission: 'listFlags',
    summary: 'The flags of all projects that the caller may read, by text, label, owner and state',
    tag: 'Flags',
    access: 'admin',
    query: FILTERS,
    paged: 'optional',
    streamed: 'flags',
    permissionBy: 'handler',
    reply: { status: 200, schema: 'FeatureList' },
    errors: ['invalid_input', 'environment_not_found'],
    async handle({ flags, query, principal }) {
      const list = listerFor(principal, flags);
      const search = flagQueryOf(query);
      const isPaged = search.limit !== undefined || search.after !== undefined;
      return isPaged ? readPage(list, search) : readWhole(list, search);
    },
  }),
  route({
    method: 'POST',
    path: `${FEATURES}/validate`,
    action: 'validateFlagName',
    permission: 'createFlag',
    permissionBy: 'anyProject',
    summary: 'Whether a name is valid and free for a new flag',
    tag: 'Flags',
    access: 'admin',
    body: { required: true, schema: ({ clone }) => clone, checkedBy: 'router' },
    reply: { status: 200 },
    errors: ['invalid_input', 'flag_exists'],
    async handle({ flags, body }) {
      const { name } = unchecked<{ readonly name: string }>(body);
      if (!(await isFlag(flags, name))) return {};
      throw new FlagsError('flag_exists', `The flag name ${name} is taken; choose another.`);
    },
  }),
];

async function isFlag(flags: Flags, name: string): Promise<boolean> {
  try {
    await flags.locateFlag({ flag: name });
    return true;
  } catch (error) {
    if (isFlagsError(error) && error.code === 'flag_not_found') return false;
    throw error;
  }
}

type ListFlags = (query?: FlagQuery) => ReturnType<Flags['listFlags']>;

/** Returns a list across the projects that the caller may read. It rejects with `forbidden` if there is none. */
export function listerFor(principal: Principal, flags: Flags): ListFlags {
  const canRead = createProjectFilter(principal, 'listFlags');
  return async (query) => {
    const page = await flags.listFlags({}, { ...query, canRead });
    if (page.total === 0) await firstPermittedProject('listFlags', principal, flags);
    return page;
  };
}
