import { type FlagExplanation, type Flags, FlagsError, LIMITS } from '@flags/core';
import { listFlagEntries, paced } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { ConstraintExplanation } from '@flags/core/types';
import { route, TOO_LARGE } from '../../api/route.js';
import { jsonTexts } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import {
  boolean,
  count,
  example,
  listOf,
  objectComponent,
  strategyName,
  strictObject,
  text,
  version,
} from '../../messages/schema.js';
import { constraintSchema, constraintToWire } from '../flags/wire.js';
import {
  contextFromWire,
  contextSchema,
  evaluatedVariantSchema,
  evaluatedVariantToWire,
  type WireContext,
} from './wire.js';

const hashed = {
  groupId: text,
  id: example('7'),
  bucket: { ...count, description: 'The result of the hash, or a random number.' },
};

const reason: JsonSchema = {
  type: 'string',
  enum: [
    'unknown_flag',
    'broken_flag',
    'dependency',
    'disabled',
    'no_strategies',
    'strategy',
    'no_strategy_holds',
    'unreadable_context',
  ],
  examples: ['strategy'],
  description: 'The part of the configuration that decided. `strategy`: the last listed strategy holds.',
};

const explainedDependencySchema = objectComponent('ExplainedDependency', {
  dependency: strictObject({ feature: example('payments') }, { enabled: boolean, variants: listOf(text) }),
  holds: boolean,
});

const explainedConstraintSchema = objectComponent(
  'ExplainedConstraint',
  { constraint: constraintSchema, holds: boolean },
  {
    value: { type: 'string', description: 'The value in the context.' },
    isCut: { ...boolean, description: 'Whether operands and value are left out because the explanation is too long.' },
  },
);

const explainedSegmentSchema = objectComponent('ExplainedSegment', {
  id: example(1, count),
  found: boolean,
  holds: boolean,
  constraints: listOf(explainedConstraintSchema),
});

const explainedRolloutSchema = objectComponent(
  'ExplainedRollout',
  { holds: boolean, groupId: text, random: boolean, rollout: { type: 'number' } },
  { id: hashed.id, bucket: hashed.bucket },
);

const explainedStrategySchema = objectComponent(
  'ExplainedStrategy',
  {
    name: strategyName,
    holds: boolean,
    disabled: boolean,
    constraints: {
      ...listOf(explainedConstraintSchema),
      description: 'The evaluated constraints, up to the first that fails.',
    },
    segments: { ...listOf(explainedSegmentSchema), description: 'The evaluated segments, up to the first that fails.' },
  },
  {
    unknown: {
      ...listOf(text),
      description:
        'The parts of the strategy that the host does not know or that have no effect, such as `unknown parameter rolout`.',
    },
    isTooCostly: { ...boolean, description: 'The strategy does not hold, because its evaluation could take too long.' },
    test: { ...boolean, description: 'The result of the strategy itself; absent if it was not evaluated.' },
    rollout: explainedRolloutSchema,
  },
);

const explainedVariantChoiceSchema = objectComponent(
  'ExplainedVariantChoice',
  { variant: { anyOf: [evaluatedVariantSchema, { type: 'null' }] }, overridden: boolean },
  { ...hashed, stickiness: text, random: boolean, totalWeight: { type: 'number' } },
);

const explainedFeatureSchema = objectComponent(
  'ExplainedFeature',
  {
    name: text,
    project: text,
    enabled: boolean,
    reason,
    variant: evaluatedVariantSchema,
    dependencies: listOf(explainedDependencySchema),
    strategies: {
      ...listOf(explainedStrategySchema),
      description: 'The evaluated strategies in order, up to the first that holds.',
    },
  },
  { variantChoice: explainedVariantChoiceSchema },
);

const playgroundSchema = objectComponent(
  'Playground',
  { environment: text, features: listOf(explainedFeatureSchema) },
  {
    next: {
      type: 'string',
      description:
        'The first flag that the response leaves out because of its size. Send it as `from` to get the rest.',
    },
  },
);

/** A playground request: for one flag, the flags of a project, or all flags. */
interface WirePlayground {
  readonly environment: string;
  readonly context: WireContext;
  readonly project?: string;
  readonly flag?: string;
  readonly from?: string;
  readonly asOf?: string;
}

/** A flag to explain. */
interface Candidate {
  readonly name: string;
  readonly project: string;
}

const playgroundInput: JsonSchema = {
  type: 'object',
  properties: {
    environment: { type: 'string' },
    context: contextSchema,
    project: { type: 'string', minLength: 1, description: 'Only flags of this project.' },
    flag: { type: 'string', minLength: 1, description: 'Only this flag.' },
    from: { type: 'string', minLength: 1, description: 'First flag to return: `next` of the previous response.' },
    asOf: {
      type: 'string',
      maxLength: 100,
      description:
        'Time whose configuration is evaluated, in ISO 8601. Default: now. Flags deleted since are left out.',
    },
  },
  required: ['environment', 'context'],
};

/** The maximum length of the constraint values in one flag's explanation, in characters. */
const MAX_VALUES_LENGTH = 256 * 1024;

/**
 * Converts an explanation. Undefined members do not appear in the JSON. Many strategies may share a large segment, so
 * constraints lose their values beyond a size limit.
 */
function explanationToWire({ project }: Candidate, explanation: FlagExplanation) {
  const { flag, enabled, reason, variant, dependencies, strategies, variantChoice } = explanation;
  const toWire = createConstraintTruncator();
  return {
    name: flag,
    project,
    enabled,
    reason,
    variant: evaluatedVariantToWire(variant),
    dependencies: dependencies.map(explainedDependencyToWire),
    strategies: strategies.map((strategy) => ({
      ...strategy,
      constraints: strategy.constraints.map(toWire),
      segments: strategy.segments.map((segment) => ({ ...segment, constraints: segment.constraints.map(toWire) })),
    })),
    variantChoice: variantChoice && {
      ...variantChoice,
      variant: variantChoice.variant ? evaluatedVariantToWire(variantChoice.variant) : null,
    },
  };
}

export function explainedDependencyToWire({ dependency, holds }: FlagExplanation['dependencies'][number]) {
  const { flag, ...condition } = dependency;
  return { dependency: { feature: flag, ...condition }, holds };
}

function createConstraintTruncator() {
  let room = MAX_VALUES_LENGTH;
  return (explained: ConstraintExplanation) => {
    const { constraint, holds } = explained;
    const size = sizeOf(explained, room);
    room -= size;
    if (room >= 0) return { ...explained, constraint: constraintToWire(constraint) };
    room = 0;
    const { values: _values, value: _value, ...rest } = constraint;
    return { constraint: { ...rest, values: [] }, holds, isCut: true };
  };
}

/** Returns the length in characters. Stops counting when the number of values alone exceeds the limit. */
function sizeOf({ constraint, value = '' }: ConstraintExplanation, room: number): number {
  const { values = [] } = constraint;
  if (values.length > room) return values.length;
  return values.reduce((sum, text) => sum + text.length + 3, value.length + (constraint.value?.length ?? 0));
}

export const playgroundRoutes = [
  route('POST', '/api/admin/playground', 'explainFlags', {
    summary: 'Evaluate flags for a context, and explain each result',
    body: { schema: playgroundInput, most: LIMITS.contextBytes },
    reply: playgroundSchema,
    errors: ['environment_not_found', 'project_not_found', 'flag_not_found'],
    long: { kind: 'read', isShort: ({ body }) => Object(body).asOf === undefined && Object(body).flag !== undefined },
    never: TOO_LARGE,
    async handle({ flags, body, sent: { signal } }) {
      const { environment, project, flag, asOf, context: wireContext } = unchecked<WirePlayground>(body);
      // Refuses an invalid time, even if there is nothing to explain.
      if (asOf !== undefined) flags.history.asOf(asOf);
      if (project !== undefined) await flags.getProject({ project });
      const { flags: configured } = flags.configuration({ environment });
      const candidates = asOf === undefined ? configured : await withArchived(flags, configured);
      const selected = candidates.filter((one) => isRequested(one, unchecked(body)));
      if (flag !== undefined && selected.length === 0) {
        throw new FlagsError('flag_not_found', `The flag ${flag} does not exist or is archived.`);
      }
      const context = contextFromWire(wireContext);
      const explain =
        asOf === undefined
          ? (name: string) => flags.explain(name, context, { environment })
          : // A view caches its reads, so one view per flag bounds the memory of the request.
            (name: string) => flags.history.asOf(asOf).explain(name, context, { environment });
      const maxFlags = asOf === undefined ? selected.length : MAX_PAST_FLAGS;
      return { body: { environment, ...(await explainAll(selected, { explain, maxFlags, signal })) } };
    },
  }),
  route('GET', '/api/admin/contexts', 'listRecentContexts', {
    summary: 'List the contexts that this process evaluated most recently, newest first, if it records them',
    reply: objectComponent('ContextList', { version, contexts: listOf(contextSchema) }),
    handle: async ({ flags }) => ({ body: { version: 1, contexts: flags.recentContexts() } }),
  }),
];

/** The maximum length of a reply, in characters. Clients request the remaining flags with `from`. */
const MAX_REPLY_LENGTH = 4 * 1024 * 1024;

/** The time after which a reply ends, in milliseconds. Regular expressions may take that long for a hostile context. */
const MAX_MILLISECONDS = 10_000;

/** The maximum number of flags in a reply about the past, because each flag reads the log. */
const MAX_PAST_FLAGS = 100;

interface ExplainOptions {
  readonly explain: (name: string) => FlagExplanation | Promise<FlagExplanation>;
  /** The maximum number of flags to explain. */
  readonly maxFlags: number;
  readonly signal: AbortSignal | undefined;
}

/** Evaluates and serializes flag by flag, because one flag may have very many constraints. */
async function explainAll(selected: readonly Candidate[], { explain, maxFlags, signal }: ExplainOptions) {
  const texts: string[] = [];
  const end = performance.now() + MAX_MILLISECONDS;
  let length = 0;
  for await (const [index, flag] of paced(selected.entries(), { signal })) {
    if (length >= MAX_REPLY_LENGTH || index >= maxFlags || performance.now() > end) {
      return { features: jsonTexts(texts), next: flag.name };
    }
    const explanation = await explain(flag.name);
    // The flag did not exist at that time, or was archived.
    if (explanation.reason === 'unknown_flag') continue;
    const text = JSON.stringify(explanationToWire(flag, explanation));
    texts.push(text);
    length += text.length;
  }
  return { features: jsonTexts(texts) };
}

/** Adds the flags that are archived now, because they may not have been archived then. In name order. */
async function withArchived(flags: Flags, configured: readonly Candidate[]): Promise<readonly Candidate[]> {
  const all = [...configured, ...(await listFlagEntries(flags, { archived: true })).items];
  return all.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Flag names are ASCII, so string comparison follows the order of the flags. */
function isRequested(
  configured: Candidate,
  { project = configured.project, flag = configured.name, from = '' }: Partial<WirePlayground>,
): boolean {
  return configured.project === project && configured.name === flag && configured.name >= from;
}
