import * as compiled from '../../base/compiled-schemas.js';
import { type ErrorDetail, isFlagsError } from '../../base/errors.js';
import { copyJson } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { paced } from '../../base/paced.js';
import { dateTime, type JsonSchema, name, type ObjectSchema, positiveInteger, text } from '../../base/primitives.js';
import type { FlagsSettings } from '../../base/settings.types.js';
import { createValidator, invalidInput, type Validator } from '../../base/validator.js';
import type { ChangeEngine } from '../../kernel/changes/change-engine.js';
import { dependency, findDependencyIssues, findLabelIssues, newFlag } from '../flags/flag.schema.js';
import { constraints, findRepeatedIds, findStrategyIssues, strategy } from '../flags/strategies.schema.js';
import type { StrategyInput } from '../flags/strategy.types.js';
import { findRepeated, findVariantsIssues, variants } from '../flags/variants.schema.js';
import { member, newProject } from '../projects/project.schema.js';
import { findSegmentIssues, newSegment } from '../segments/segment.schema.js';
import type {
  DefinedEnvironment,
  DefinedFlag,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
  Definitions,
} from './definition.types.js';

const createdAt: JsonSchema = {
  ...dateTime,
  description: 'Time of creation. Used only when the import creates the document.',
};

const projectDefinition: ObjectSchema<DefinedProject> = {
  type: 'object',
  properties: {
    ...newProject.properties,
    id: name,
    createdAt,
    members: { type: 'array', maxItems: 10_000, items: member },
  },
  required: ['id'],
  additionalProperties: false,
};

const segmentDefinition: ObjectSchema<DefinedSegment> = {
  type: 'object',
  properties: { ...newSegment.properties, constraints, id: positiveInteger, createdAt, createdBy: text(LIMITS.title) },
  required: ['name'],
  additionalProperties: false,
};

const strategyDefinition: ObjectSchema<DefinedStrategy> = {
  type: 'object',
  properties: {
    ...strategy.properties,
    id: text(LIMITS.label),
    segments: {
      type: 'array',
      maxItems: LIMITS.segmentsPerStrategy,
      items: { type: ['string', 'integer'], minLength: 1, maxLength: LIMITS.label, minimum: 1 },
      description: 'Names or ids of segments.',
    },
  },
  required: ['name'],
  additionalProperties: false,
};

const environmentDefinition: ObjectSchema<DefinedEnvironment> = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    strategies: { type: 'array', maxItems: LIMITS.strategiesPerEnvironment, items: strategyDefinition },
  },
  additionalProperties: false,
};

/** The type of a flag is checked later, because an existing flag may keep a type that is no longer configured. */
const flagDefinition: ObjectSchema<DefinedFlag> = {
  type: 'object',
  properties: {
    ...newFlag.properties,
    type: { type: 'string', minLength: 1, maxLength: LIMITS.name },
    project: name,
    stale: { type: 'boolean' },
    archived: { type: 'boolean' },
    archivedAt: dateTime,
    createdAt,
    variants,
    dependencies: {
      type: 'array',
      maxItems: LIMITS.dependencies,
      items: { ...dependency, additionalProperties: false },
    },
    environments: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: environmentDefinition,
      description: 'Configurations by the name of the environment.',
    },
  },
  required: ['name'],
  additionalProperties: false,
};

/** The members of a document, before its items are validated. */
const envelope: ObjectSchema<Definitions & { readonly $schema?: string }> = {
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    version: { const: 1 },
    projects: { type: 'array' },
    segments: { type: 'array' },
    flags: { type: 'array' },
  },
  required: ['version'],
  additionalProperties: false,
};

/**
 * Returns the JSON Schema of definitions, for editors. With settings, it names the flag types and environments.
 *
 * @example
 * await writeFile('flags.schema.json', JSON.stringify(definitionsSchema(flags.settings)));
 */
export function definitionsSchema(settings?: Pick<FlagsSettings, 'flagTypes' | 'environments'>): JsonSchema {
  const { environments } = flagDefinition.properties;
  const flag = settings && {
    type: { type: 'string', enum: settings.flagTypes.map((type) => type.name) },
    environments: {
      ...environments,
      propertyNames: { enum: settings.environments.map((environment) => environment.name) },
    },
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Feature flags',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      version: { const: 1 },
      projects: { type: 'array', items: projectDefinition },
      segments: { type: 'array', items: segmentDefinition },
      flags: { type: 'array', items: { ...flagDefinition, properties: { ...flagDefinition.properties, ...flag } } },
    },
    required: ['version'],
    additionalProperties: false,
  };
}

/** The parts of a document, which are validated one by one. */
export const DEFINITION_SCHEMAS = {
  definitions: envelope,
  projectDefinition,
  segmentDefinition,
  flagDefinition,
} satisfies Readonly<Record<string, JsonSchema>>;

/** Prefixes the paths of issues. */
function* issuesAt(path: string, issues: Iterable<ErrorDetail>): Generator<ErrorDetail> {
  for (const issue of issues) yield { ...issue, path: `${path}${issue.path ?? ''}` };
}

const validateEnvelope = createValidator<Definitions>(compiled.definitions);
const validateProject = createValidator<DefinedProject>(compiled.projectDefinition, findProjectIssues);
const validateSegment = createValidator<DefinedSegment>(compiled.segmentDefinition, findSegmentIssues);

/** Collects the issues of a document, up to the limit of one error. */
export class Issues {
  private readonly found: ErrorDetail[] = [];

  add(path: string, message: string): void {
    if (this.found.length < LIMITS.issues) this.found.push({ message, path });
  }

  addAll(issues: Iterable<ErrorDetail>): void {
    for (const { path = '', message } of issues) this.add(path, message);
  }

  get isFull(): boolean {
    return this.found.length >= LIMITS.issues;
  }

  /** Throws `invalid_input` if there are issues. */
  assertNone(): void {
    if (this.found.length > 0) throw invalidInput(this.found);
  }
}

/** Validates and copies a document, item by item, in slices. Does not read the store. */
export async function readDefinitions({ settings }: ChangeEngine, input: Definitions): Promise<Required<Definitions>> {
  const { projects = [], segments = [], flags = [] } = validateEnvelope(input);
  const environments = settings.environments.map(({ name }) => name);
  const validateFlag = createValidator<DefinedFlag>(compiled.flagDefinition, (flag) =>
    findFlagIssues(flag, environments),
  );
  const issues = new Issues();

  async function readItems<Item extends object>(
    path: string,
    items: readonly Item[],
    { validate, idOf }: ItemRules<Item>,
  ) {
    const seen = new Set<string>();
    const copies: Item[] = [];
    for await (const [index, item] of paced(items.entries())) {
      if (issues.isFull) break;
      try {
        const copy = copyJson(validate(item)) as Item;
        const id = idOf(copy);
        if (seen.has(id)) issues.add(`${path}/${index}`, `is the second definition of ${id}; remove one of them`);
        seen.add(id);
        copies.push(copy);
      } catch (error) {
        if (!isFlagsError(error) || error.code !== 'invalid_input') throw error;
        issues.addAll(issuesAt(`${path}/${index}`, error.details));
      }
    }
    return copies;
  }

  const copies = {
    version: 1 as const,
    projects: await readItems('/projects', projects, { validate: validateProject, idOf: ({ id }) => id }),
    segments: await readItems('/segments', segments, { validate: validateSegment, idOf: ({ name }) => name }),
    flags: await readItems('/flags', flags, { validate: validateFlag, idOf: ({ name }) => name }),
  };
  issues.assertNone();
  return copies;
}

interface ItemRules<Item extends object> {
  readonly validate: Validator<Item>;
  readonly idOf: (item: Item) => string;
}

function findProjectIssues({ members = [] }: DefinedProject): Iterable<ErrorDetail> {
  return findRepeated(
    members,
    ({ userId }) => userId,
    (index) => `/members/${index}/userId`,
    'must be unique among the members',
  );
}

function* findFlagIssues(flag: DefinedFlag, known: readonly string[]): Generator<ErrorDetail> {
  const { labels, variants = [], dependencies = [], environments = {} } = flag;
  if (labels) yield* findLabelIssues({ labels });
  yield* issuesAt('/variants', findVariantsIssues(variants));
  for (const [index, dependency] of dependencies.entries()) {
    yield* issuesAt(`/dependencies/${index}`, findDependencyIssues(dependency));
  }
  yield* findRepeated(
    dependencies,
    ({ flag }) => flag,
    (index) => `/dependencies/${index}/flag`,
    'must be unique among the dependencies',
  );
  for (const [name, { enabled, strategies }] of Object.entries(environments)) {
    const path = `/environments/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!known.includes(name)) {
      yield { message: `is not a configured environment; there are ${known.join(', ')}`, path };
    }
    if (enabled && strategies?.length === 0) {
      yield { message: 'must be false without a strategy', path: `${path}/enabled` };
    }
    for (const [index, { segments, ...strategy }] of (strategies ?? []).entries()) {
      const place = `${path}/strategies/${index}`;
      yield* issuesAt(place, findStrategyIssues(strategy as StrategyInput<string>));
      if (new Set(segments).size < (segments?.length ?? 0))
        yield { message: 'must be unique', path: `${place}/segments` };
    }
    yield* findRepeatedIds(strategies ?? [], `${path}/strategies`);
  }
}
