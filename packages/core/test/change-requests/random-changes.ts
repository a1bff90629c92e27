import fc from 'fast-check';
import { type Change, type Flags, FlagsError } from '../../src/index.js';
import { carryOut, type Operation, strategyOf } from '../invariants/random-operations.js';
import type { MethodName } from '../method-names.js';
import { approve } from './protected.js';

/*
 * Random changes that clients of a protected environment often see, and what they see, computed without the rule of the
 * gate.
 */

export const PROTECTED = { environment: 'development' };
export const NAMES = ['a', 'b', 'c', '__proto__'];

/** Mostly two flags, one of which is the parent of the other, so that changes meet. */
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constant('a') },
  { weight: 4, arbitrary: fc.constant('b') },
  { weight: 1, arbitrary: fc.constantFrom('c', '__proto__') },
);
const flagRef = name.map((flag) => ({ project: 'default', flag }));
const place = name.map((flag) => ({ project: 'default', flag, ...PROTECTED }));
const nth = fc.tuple(place, fc.nat({ max: 1 })).map(([ref, at]) => ({ ...ref, nth: at }));
const constraints = fc
  .uniqueArray(fc.constantFrom('1', '2', '3', '7'), { minLength: 1, maxLength: 2 })
  .map((values) => [{ contextName: 'userId', operator: 'IN', values }]);
const variants = fc
  .uniqueArray(fc.constantFrom('red', 'blue', 'green'), { minLength: 1, maxLength: 3 })
  .chain((names) => fc.tuple(fc.constant(names), fc.constantFrom(undefined, 'x', 'y')))
  .map(([names, value]) =>
    names.map((one) => ({
      name: one,
      weight: 1,
      weightType: 'variable',
      stickiness: 'userId',
      ...(value !== undefined && { payload: { type: 'string', value } }),
    })),
  );
const strategy = fc.oneof(
  fc.constant({ name: 'default' }),
  // One engine knows it, the other does not.
  fc.constant({ name: 'custom' }),
  fc.record({ name: fc.constant('default'), constraints }),
  fc.record({ name: fc.constant('default'), segments: fc.constantFrom([1], [2], [1, 2]) }),
  fc.record({ name: fc.constant('default'), disabled: fc.boolean() }),
  fc.record({
    name: fc.constant('flexibleRollout'),
    parameters: fc.constantFrom('0', '20', '60', '100').map((rollout) => ({ rollout, stickiness: 'userId' })),
  }),
);
const configuration = fc.record({ enabled: fc.boolean(), strategies: fc.array(strategy, { maxLength: 2 }) });
const dependency = fc.record({ flag: name, enabled: fc.boolean() });
const segment = fc.constantFrom({ segment: 1 }, { segment: 2 });
const move = fc.constantFrom('default', 'p').map((project) => ({ project }));

function calls(weight: number, call: MethodName, ...input: readonly fc.Arbitrary<unknown>[]) {
  return { weight, arbitrary: fc.tuple(...input).map((given): Operation => ({ call, input: given })) };
}

/** Changes that clients of the protected environment often see, and that are often valid. */
export const change = fc.oneof(
  calls(4, 'enable', place),
  calls(4, 'disable', place),
  calls(4, 'addStrategy', place, strategy),
  calls(3, 'updateStrategy', nth, strategy),
  calls(2, 'removeStrategy', nth),
  calls(3, 'configureEnvironment', place, configuration),
  calls(3, 'setVariants', flagRef, variants),
  calls(4, 'addDependency', flagRef, dependency),
  calls(
    2,
    'removeDependency',
    flagRef,
    name.map((flag) => ({ flag })),
  ),
  calls(2, 'segments.update', segment, fc.record({ name: fc.constant('s'), constraints })),
  calls(1, 'archiveFlag', flagRef),
  calls(
    3,
    'reviveFlag',
    name.map((flag) => ({ flag })),
  ),
  calls(
    1,
    'deleteFlag',
    name.map((flag) => ({ flag })),
  ),
  calls(
    2,
    'createFlag',
    fc.constant({ project: 'default' }),
    name.map((one) => ({ name: one })),
  ),
  calls(
    1,
    'cloneFlag',
    flagRef,
    name.map((one) => ({ name: one })),
  ),
  calls(1, 'moveFlag', flagRef, move),
  calls(1, 'updateFlag', flagRef, fc.record({ description: fc.constantFrom('x', 'y'), stale: fc.boolean() })),
);

/** The flags that the changes name: all are on, one is the parent of another, and one uses a segment. */
export async function furnish(flags: Flags): Promise<void> {
  await flags.createProject({ id: 'p', name: 'P' });
  for (const one of ['s', 't']) await flags.segments.create({ name: one, constraints: [] });
  for (const flag of NAMES) {
    await flags.createFlag({ project: 'default' }, { name: flag });
    const segments = flag === 'a' ? [1] : [];
    await flags.addStrategy({ project: 'default', flag, ...PROTECTED }, { name: 'default', segments });
    await flags.enable({ project: 'default', flag, ...PROTECTED });
  }
  await flags.addDependency({ project: 'default', flag: 'b' }, { flag: 'a' });
}

/** The change of a set that an operation is. Its strategy has the id that it has now. */
export async function toChange(flags: Flags, { call, input: [ref, input] }: Operation) {
  const { nth: _nth, ...named } = Object(await strategyOf(flags, ref));
  return { op: call, ref: named, ...(input !== undefined && { input }) } as never;
}

/** Some operations are an undo of the newest change set, an import of a changed export, or a request that is due, with an approval in place of a bypass. */
export async function attempt(
  flags: Flags,
  operation: Operation,
  at: number,
  context: { readonly bypassApproval?: string } = {},
): Promise<void> {
  const { items } = await flags.history.list({}, { limit: 1 });
  const changeSet = items[0]?.id;
  if (at % 8 === 2 && changeSet) await flags.history.undo({ changeSet }, context);
  else if (at % 8 === 5) {
    const definitions = await flags.definitions.export();
    const changed = definitions.flags?.map((flag, index) => ({ ...flag, archived: (index + at) % 4 === 0 }));
    await flags.definitions.import({ ...definitions, ...(changed && { flags: changed }) }, context);
  } else if (at % 8 === 7) {
    await requestAtOnce(flags, [await toChange(flags, operation)], context.bypassApproval !== undefined);
  } else await carryOut(flags, withContext(operation, context));
}

/** Requests changes whose time has come, and throws the refusal that fails them. */
async function requestAtOnce(flags: Flags, changes: readonly Change[], isApproved: boolean): Promise<void> {
  const { id } = await flags.as('ada').changeRequests.create(changes, { at: '2026-01-01T00:00:00Z' });
  const ref = { changeRequest: id };
  if (isApproved) await approve(flags, ref, 'grace');
  await flags.runDue();
  const { state, failure } = await flags.changeRequests.get(ref);
  if (state === 'open') {
    await flags.changeRequests.withdraw(ref);
    throw new FlagsError('approval_required', 'The request waits for approval.');
  }
  if (failure) throw new FlagsError(failure.code, failure.message);
}

/** Adds the context of the change as the last argument. */
export function withContext({ call, input }: Operation, context: object): Operation {
  return { call, input: [...input, context] };
}

type Configuration = ReturnType<Flags['configuration']>;
type ClientFlag = Configuration['flags'][number];
/** What clients get of a flag, by project and name. Absent flags have none. */
type ClientView = ReadonlyMap<string, string>;

/** Reads what clients of the protected environment receive of each flag, as one text. */
export function clientView(flags: Flags): ClientView {
  const { flags: all, segments } = flags.configuration(PROTECTED);
  const find = (name: string) => all.find((flag) => flag.name === name);
  const values = new Map(segments.map(({ id, constraints }) => [id, constraints]));
  const isOn = ({ enabled, dependencies }: ClientFlag) =>
    enabled &&
    (dependencies ?? []).every((dependency) => {
      const parent = find(dependency.flag);
      if (!parent || (parent.dependencies ?? []).length > 0) return false;
      return dependency.enabled === false || parent.enabled;
    });
  const define = ({ strategies, variants, dependencies }: ClientFlag): unknown => ({
    strategies: strategies
      .filter(({ disabled }) => !disabled)
      .map(({ name, parameters, constraints, segments: used, variants: own }) => {
        return {
          name,
          parameters,
          constraints,
          segments: (used ?? []).map((id) => values.get(id)),
          variants: own ?? [],
        };
      }),
    isForAll: strategies.length === 0,
    variants,
    parents: (dependencies ?? []).map((dependency) => {
      const parent = find(dependency.flag);
      return [dependency.flag, dependency.enabled ?? true, parent && isOn(parent) ? define(parent) : null];
    }),
  });
  const hasPayloads = ({ variants, strategies }: ClientFlag) =>
    [variants, ...strategies.filter(({ disabled }) => !disabled).map((one) => one.variants)]
      .flatMap((list) => list ?? [])
      .some(({ payload }) => payload !== undefined && payload !== null);
  return new Map(
    all.map((flag) => [
      `${flag.project} ${flag.name}`,
      isOn(flag) ? JSON.stringify(define(flag)) : `off${hasPayloads(flag) ? ' with payloads' : ''}`,
    ]),
  );
}

/** A difference of two views: the flag, and what clients get before and after. */
export interface Difference {
  readonly flag: string;
  readonly before: string;
  readonly after: string;
}

export function differencesOf(before: ClientView, after: ClientView): readonly Difference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const both = names.map((flag) => {
    return { flag, before: before.get(flag) ?? 'absent', after: after.get(flag) ?? 'absent' };
  });
  return both.filter((one) => one.before !== one.after);
}

/** Whether a difference needs no approval: the flag goes off. */
export function isFree({ before, after }: Difference): boolean {
  return after.startsWith('off') && !before.startsWith('off');
}
