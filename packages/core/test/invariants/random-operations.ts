import fc from 'fast-check';
import type { JsonSchema } from '../../src/base/primitives.js';
import {
  dependency,
  flagChanges,
  labelChanges as labelChangesSchema,
  newFlag as newFlagSchema,
} from '../../src/features/flags/flag.schema.js';
import {
  environment as environmentSchema,
  strategy,
  strategyReplacement,
} from '../../src/features/flags/strategies.schema.js';
import { variants as variantsSchema } from '../../src/features/flags/variants.schema.js';
import {
  member as memberSchema,
  newProject as newProjectSchema,
  projectChanges as projectChangesSchema,
} from '../../src/features/projects/project.schema.js';
import {
  newSegment as newSegmentSchema,
  segmentChanges as segmentChangesSchema,
} from '../../src/features/segments/segment.schema.js';
import { newToken as newTokenSchema } from '../../src/features/tokens/token.schema.js';
import { definitionsSchema, type EnvironmentRef, type Flags, LIMITS } from '../../src/index.js';
import { extremesOf } from '../extremes.js';
import { type MethodName, methodsOf } from '../method-names.js';
import { mostly, strategyInput, variantInput } from './random-inputs.js';

const { MAX_SAFE_INTEGER } = Number;

type Call = MethodName;

/** One call of the public interface, as data, so that a counterexample can be read. */
export interface Operation {
  readonly call: Call;
  readonly input: readonly unknown[];
}

const flagName = fc.constantFrom('a', 'b', '__proto__', 'constructor');
const anyName = mostly(flagName, fc.constantFrom('', '.', 'é', 7));
const secret = fc.constantFrom('s1', 's2');

const projectId = fc.constantFrom('default', 'default', 'default', '__proto__', '__proto__', 'p');
const projectRef = fc.record({ project: projectId });
/** Every name is mostly used in one project, so that operations meet. */
const flagRef = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom({ project: 'default', flag: 'a' }, { project: 'default', flag: 'b' }) },
  { weight: 4, arbitrary: fc.constant({ project: '__proto__', flag: '__proto__' }) },
  { weight: 1, arbitrary: fc.record({ project: projectId, flag: flagName }) },
);
const environment = mostly(fc.constantFrom('development', 'constructor'), fc.constant('nowhere'));
const environmentRef = fc.tuple(flagRef, environment).map(([ref, environment]) => ({ ...ref, environment }));
/** Refers to the nth strategy at that moment. */
const strategyRef = fc.tuple(environmentRef, fc.nat({ max: 2 })).map(([ref, nth]) => ({ ...ref, nth }));
const onlyFlag = fc.record({ flag: flagName });

const description = mostly(fc.constantFrom('', 'text', null, '\ud800'), fc.constant(7));
const flagType = mostly(fc.constantFrom('release', 'operational'), fc.constant('unheard-of'));
const labels = fc.array(mostly(fc.constantFrom('x', 'y', '__proto__'), fc.constant('')), { maxLength: 3 });
const owner = mostly(fc.constantFrom('ada', null), fc.constant(7));
const changes = fc.record(
  { description, type: flagType, stale: fc.boolean(), impressionData: fc.boolean(), labels, owner },
  { requiredKeys: [] },
);
const newFlag = fc.record({ name: anyName, description, labels, owner }, { requiredKeys: ['name'] });
const labelChanges = fc.record({ add: labels, remove: labels }, { requiredKeys: [] });
const userId = mostly(fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, '1'));
const member = fc.record({ userId, roleId: mostly(fc.constantFrom(4, 5), fc.constant(99)) });
const newProject = fc.record({
  id: fc.constantFrom('p', '__proto__', 'default', ''),
  name: mostly(fc.constant('P'), fc.constant('')),
});
const projectChanges = fc.record(
  { name: fc.constantFrom('P', 'Q'), description: fc.constant('d') },
  { requiredKeys: [] },
);
const newToken = fc.oneof(
  fc.record({ name: fc.constant('t'), kind: fc.constant('client'), secret, project: projectId, environment }),
  fc.record({ name: fc.constant('t'), kind: fc.constantFrom('admin', 'frontend'), secret }),
);
const segmentRef = fc.record({ segment: fc.integer({ min: 1, max: 3 }) });
const segmentName = fc.constantFrom('s', 't', '__proto__');
const newSegment = fc.record({ name: segmentName, constraints: fc.constant([]) });
const segmentChanges = fc.record({ name: segmentName, description: fc.constant('d') }, { requiredKeys: [] });
const parent = fc.record({ flag: flagName });
/** Ids of segments are given numbers: the next ones follow them. */
const segmentId = fc.constantFrom(1, 2, LIMITS.segmentId - 1, LIMITS.segmentId, LIMITS.segmentId + 1, MAX_SAFE_INTEGER);
const definedSegments = fc.uniqueArray(fc.record({ name: segmentName, id: segmentId }, { requiredKeys: ['name'] }), {
  maxLength: 3,
  selector: ({ name }) => name,
});
const definitions = fc.record({ version: fc.constant(1), segments: definedSegments });
const variants = fc.uniqueArray(variantInput, { maxLength: 4, selector: ({ name }) => name });

const step = fc.record({
  percentage: mostly(fc.constantFrom(0, 50), fc.constant(101)),
  hold: fc.constantFrom(0, null),
});
const newRollout = fc.record(
  { steps: fc.array(step, { maxLength: 3 }), guarded: fc.boolean() },
  { requiredKeys: ['steps'] },
);
const configuration = fc.record({
  enabled: fc.boolean(),
  strategies: mostly(fc.array(strategyInput, { maxLength: 3 }), fc.constant(7)),
});

const context = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ actor: fc.constantFrom('ada', 'grace') }) },
  { weight: 1, arbitrary: fc.record({ ifRevision: fc.oneof(fc.nat({ max: 4 }), fc.array(fc.nat({ max: 4 }))) }) },
);

/** Also the largest and the smallest inputs that the schema of an operation admits. */
function extremely(usual: fc.Arbitrary<unknown>, schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 19, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom(...extremesOf(schema)) });
}

function calls(weight: number, call: Call, ...input: readonly fc.Arbitrary<unknown>[]) {
  return { weight, arbitrary: fc.tuple(...input, context).map((given): Operation => ({ call, input: given })) };
}

/** Any change, valid or not, with few names, so that operations meet. */
const OPERATIONS = [
  calls(6, 'createFlag', projectRef, extremely(newFlag, newFlagSchema)),
  calls(4, 'updateFlag', flagRef, extremely(changes, flagChanges)),
  calls(2, 'moveFlag', flagRef, projectRef),
  calls(3, 'configureEnvironment', environmentRef, extremely(configuration, environmentSchema)),
  calls(2, 'changeLabels', flagRef, extremely(labelChanges, labelChangesSchema)),
  calls(3, 'cloneFlag', flagRef, fc.record({ name: anyName })),
  calls(3, 'archiveFlag', flagRef),
  calls(2, 'reviveFlag', onlyFlag),
  calls(3, 'deleteFlag', onlyFlag),
  calls(6, 'addStrategy', environmentRef, extremely(strategyInput, strategy)),
  calls(5, 'updateStrategy', strategyRef, extremely(strategyInput, strategyReplacement)),
  calls(3, 'removeStrategy', strategyRef),
  calls(5, 'enable', environmentRef),
  calls(1, 'disable', environmentRef),
  calls(6, 'setVariants', flagRef, extremely(variants, variantsSchema)),
  calls(3, 'createProject', extremely(newProject, newProjectSchema)),
  calls(1, 'updateProject', projectRef, extremely(projectChanges, projectChangesSchema)),
  calls(1, 'deleteProject', projectRef),
  calls(4, 'addMember', projectRef, extremely(member, memberSchema)),
  calls(3, 'changeMemberRole', projectRef, member),
  calls(3, 'removeMember', projectRef, member),
  calls(3, 'segments.create', extremely(newSegment, newSegmentSchema)),
  calls(2, 'segments.update', segmentRef, extremely(segmentChanges, segmentChangesSchema)),
  calls(2, 'segments.delete', segmentRef),
  calls(5, 'addDependency', flagRef, extremely(parent, dependency)),
  calls(1, 'removeDependency', flagRef, parent),
  calls(1, 'removeDependencies', flagRef),
  calls(3, 'definitions.import', extremely(definitions, definitionsSchema())),
  calls(1, 'tokens.create', extremely(newToken, newTokenSchema)),
  calls(
    1,
    'tokens.delete',
    secret.map((token) => ({ token })),
  ),
];

const ROLLOUTS = [
  calls(5, 'rollouts.start', strategyRef, newRollout),
  calls(1, 'rollouts.pause', strategyRef),
  calls(1, 'rollouts.resume', strategyRef),
  calls(2, 'rollouts.advance', strategyRef, fc.record({ step: fc.constantFrom(1, 2, 3) }, { requiredKeys: [] })),
  calls(1, 'rollouts.stop', strategyRef, fc.record({ rollback: fc.boolean() }, { requiredKeys: [] })),
];

/** Creates the documents that the operations refer to. */
const BEGINNING: readonly Operation[] = [
  { call: 'createProject', input: [{ id: '__proto__', name: 'P' }] },
  { call: 'segments.create', input: [{ name: 's', constraints: [] }] },
  { call: 'createFlag', input: [{ project: 'default' }, { name: 'a' }] },
  { call: 'createFlag', input: [{ project: 'default' }, { name: 'b' }] },
  { call: 'createFlag', input: [{ project: 'default' }, { name: 'constructor' }] },
  { call: 'createFlag', input: [{ project: '__proto__' }, { name: '__proto__' }] },
  ...['development', 'constructor'].map((environment): Operation => {
    return { call: 'addStrategy', input: [{ project: 'default', flag: 'a', environment }, { name: 'default' }] };
  }),
  { call: 'addMember', input: [{ project: 'default' }, { userId: 1, roleId: 4 }] },
  { call: 'addMember', input: [{ project: 'default' }, { userId: 2, roleId: 4 }] },
];

function sequenceOf(rows: typeof OPERATIONS): fc.Arbitrary<readonly Operation[]> {
  const random = fc.array(fc.oneof(...rows), { minLength: 10, maxLength: 60 });
  // The last argument is the context.
  return random.map((given) => [
    ...BEGINNING.map(({ call, input }) => ({ call, input: [...input, undefined] })),
    ...given,
  ]);
}

export const operations = sequenceOf(OPERATIONS);
/** With rollouts, which an undo and an import do not write. */
export const operationsWithRollouts = sequenceOf([...OPERATIONS, ...ROLLOUTS]);

export async function carryOut(flags: Flags, { call, input: [ref, ...rest] }: Operation): Promise<unknown> {
  const given = await strategyOf(flags, ref);
  return methodsOf(flags).get(call)?.(given, ...rest);
}

/** The operation with an id for its change set. Its reference names a strategy by its present id, as in a repetition. */
export async function withSetId(flags: Flags, { call, input }: Operation, id: string): Promise<Operation> {
  const [ref, ...others] = input.slice(0, -1);
  const { nth: _nth, ...named } = Object(await strategyOf(flags, ref));
  return { call, input: [named, ...others, { ...Object(input.at(-1)), id }] };
}

/** The reference, with the id of the strategy that it names by number. */
export async function strategyOf(flags: Flags, ref: unknown): Promise<unknown> {
  return isNth(ref) ? { ...ref, strategy: await nthStrategy(flags, ref) } : ref;
}

interface NthStrategy extends EnvironmentRef {
  readonly nth: number;
}

function isNth(ref: unknown): ref is NthStrategy {
  return typeof ref === 'object' && ref !== null && 'nth' in ref;
}

async function nthStrategy(flags: Flags, { nth, ...ref }: NthStrategy): Promise<string> {
  const flag = await flags.getFlag(ref).catch(() => undefined);
  const strategies = flag?.environments.find(({ name }) => name === ref.environment)?.strategies ?? [];
  return strategies[nth % strategies.length]?.id ?? 'none';
}
