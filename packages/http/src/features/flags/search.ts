import { type FlagOverview, type FlagQuery, type Flags, FlagsError, isFlagsError, type PageQuery } from '@flags/core';
import { LIST_NOUNS, listReadableFlags } from '@flags/core/integration/http';
import { FEATURES, TAG_PARAMETER } from '../../api/paths.js';
import { inputParameters, listReply, parameter, WHOLE_LIST } from '../../api/query.js';
import { type QueryParameter, type QueryValues, type RouteRequest, route } from '../../api/route.js';
import { firstPermittedProject, isPermitted } from '../../auth/permissions.js';
import { labelsInQuery } from '../../client/client-document.js';
import { unchecked } from '../../messages/request.js';
import {
  boolean,
  count,
  environmentName,
  listOf,
  objectComponent,
  optionalTimestamp,
  positiveInteger,
  propertyOf,
  strictObject,
  text,
  timestamp,
  version,
} from '../../messages/schema.js';
import { flagMembers } from './wire.js';

const audiencePartSchema = objectComponent(
  'AudiencePart',
  { rollout: { type: 'integer', minimum: 0, maximum: 100 } },
  {
    segment: { type: 'integer', description: 'The name of the segment, if it is the only condition.' },
    list: strictObject({ noun: { type: 'string', enum: [...LIST_NOUNS.keys()] }, count }),
    field: { type: 'string', description: 'The context field without which the flag is off.' },
    targeted: { ...boolean, description: 'Whether there are other conditions.' },
    unknown: {
      ...text,
      description:
        'The parts of a strategy that the host does not know or that have no effect, such as `flexibleRolout unknown here: never on`.',
    },
  },
);

const featureEnvironmentSchema = objectComponent('FeatureEnvironment', {
  name: environmentName,
  enabled: boolean,
  strategyCount: count,
  rollout: {
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description:
      'The largest rollout percentage of a strategy. A strategy without a percentage counts as 100; no strategies: 0.',
  },
  hasVariants: { ...boolean, description: 'Whether the flag, or a strategy in this environment, has variants.' },
  audience: {
    ...listOf(audiencePartSchema),
    maxItems: 2,
    description:
      'The groups of contexts for which the strategies hold while the flag is enabled. Empty without strategies.',
  },
  offBecauseOf: {
    type: ['string', 'null'],
    description: 'The parent that switches the enabled flag off for all contexts in this environment.',
  },
});

const { impressionData: _, labels, owner, ...listedMembers } = flagMembers;

const featureSchema = objectComponent('Feature', {
  name: text,
  project: text,
  ...listedMembers,
  archived: boolean,
  labels,
  owner,
  revision: positiveInteger,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  environments: listOf(featureEnvironmentSchema),
});

const featureListSchema = objectComponent('FeatureList', {
  version,
  features: listOf(featureSchema),
  total: { ...count, description: 'Number of flags on all pages.' },
});

function repeatable(name: keyof FlagQuery, description: string): QueryParameter {
  return parameter(name, description, ({ flagQuery }) => {
    const { items, maxItems } = propertyOf(flagQuery, name);
    return { type: 'array', items, maxItems };
  });
}

const FILTERS: readonly QueryParameter[] = [
  repeatable('project', 'Only flags of these projects.'),
  repeatable('label', 'Only flags that have one of these labels.'),
  ...inputParameters('flagQuery', {
    query: 'Part of the name, description, label or owner; case-insensitive.',
    type: 'Only flags of this type.',
    owner: 'Only flags of this owner.',
    stale: 'true: only stale flags; false: only flags that are not stale.',
    archived: 'true: only archived flags. Default: only flags that are not archived.',
    enabledIn: 'Only flags that are on in this environment.',
    namePrefix: 'Only flags whose names start with this text.',
    sort: 'Sort order; a leading `-` means descending. Default: by name, which also orders equal flags.',
  } satisfies Record<Exclude<keyof FlagQuery, 'project' | 'label'>, string>),
  TAG_PARAMETER,
];

/** Converts a wire query to an engine query: tags are labels. */
export function flagQueryOf({ tag, limit: _limit, after: _after, ...query }: QueryValues): FlagQuery {
  const labels = labelsInQuery({ tag });
  if (labels === undefined) return unchecked<FlagQuery>(query);
  return unchecked<FlagQuery>({ ...query, label: [...unchecked<readonly string[]>(query.label ?? []), ...labels] });
}

/**
 * Lists flags of the projects that the caller may read. Checks each project once. Rejects with `forbidden` if the caller may
 * not read any.
 */
export async function listFlagsForCaller(
  { flags, principal }: Pick<RouteRequest, 'flags' | 'principal'>,
  query: FlagQuery,
  page?: PageQuery,
) {
  let isAnyReadable = false;
  async function canRead(project: string): Promise<boolean> {
    const isReadable = await isPermitted(principal, 'listFlags', project);
    isAnyReadable ||= isReadable;
    return isReadable;
  }
  const found = await listReadableFlags(flags, query, { ...(page && { page }), canRead });
  if (!isAnyReadable) await firstPermittedProject('listFlags', principal, flags);
  return found;
}

export function overviewToWire({ archivedAt: _, ...overview }: FlagOverview): Omit<FlagOverview, 'archivedAt'> {
  return overview;
}

export const featureRoutes = [
  route('GET', FEATURES, 'searchFlags', {
    summary: 'Search the flags of all projects that the caller may read',
    query: FILTERS,
    paged: 'optional',
    long: WHOLE_LIST,
    permissionIn: 'handler',
    reply: featureListSchema,
    errors: ['environment_not_found'],
    handle: (request) =>
      listReply(request.query, {
        isWhole: true,
        page: (page) => listFlagsForCaller(request, flagQueryOf(request.query), page),
        toWire: overviewToWire,
        body: (features, { total }) => ({ version: 1, total, features }),
      }),
  }),
  route('POST', `${FEATURES}/validate`, 'validateFlagName', {
    permissionIn: 'anyProject',
    summary: 'Validate the name of a new flag, and check that no flag has it',
    body: { schema: ({ clone }) => clone },
    errors: ['flag_exists'],
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
