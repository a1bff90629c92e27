import { compareCodePoints } from '../base/collections.js';
import { FlagsError, isFlagsError } from '../base/errors.js';
import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { emitWarning } from '../base/printable.js';
import type { EvaluationOperations } from '../evaluation/evaluation.types.js';
import type { Change } from '../features/change-requests/vocabulary.js';
import { enabledEnvironments, type FlagState } from '../features/flags/flag.js';
import type { Strategy, StrategyVariant } from '../features/flags/strategy.types.js';
import { DEFAULT_PROJECT } from '../features/projects/project.js';
import type { FlagsEngine } from '../flags-engine.js';
import type { ApplyOptions } from '../kernel/changes/change-set.types.js';
import { describedVariants, hasPayload } from './payload.js';
import type { FlagDeclaration, FlagDrift, FlagsSchema } from './schema.types.js';

/** Whether the engine reports or creates missing flags at the start. */
type Declare = 'report' | 'create';

/**
 * Compares the schema with the flags in memory, in slices of some milliseconds. Sorted by flag.
 *
 * @param declare `create` creates variants without payloads, because a schema has none. A missing payload is drift only
 * while the flag is on in an environment.
 */
export async function findDrift(
  { flags }: FlagsSchema,
  engine: FlagsEngine,
  declare: Declare = 'report',
): Promise<readonly FlagDrift[]> {
  const { documents } = engine.replica;
  const drift: FlagDrift[] = [];
  for await (const [flag, declaration] of paced(Object.entries(flags))) {
    const stored = documents.flags.get(flag);
    if (stored && !stored.archived) drift.push(...compareFlag(declaration, stored, { engine, declare }));
    else {
      const reason = stored ? 'archived' : 'not stored';
      drift.push({ kind: 'missing', flag, message: `The flag ${flag} is declared, but ${reason}.` });
    }
  }
  for await (const [flag, { archived }] of paced(documents.flags)) {
    if (archived || Object.hasOwn(flags, flag)) continue;
    drift.push({ kind: 'undeclared', flag, message: `The flag ${flag} is stored, but not declared.` });
  }
  return Object.freeze(drift.sort((one, other) => compareCodePoints(one.flag, other.flag)));
}

function* compareFlag(
  declaration: FlagDeclaration,
  stored: FlagState,
  { engine: { payloads }, declare }: { readonly engine: FlagsEngine; readonly declare: Declare },
): Generator<FlagDrift> {
  const { name: flag, type, variants } = stored;
  if (declaration.type !== undefined && declaration.type !== type) {
    const message = `The flag ${flag} is declared with the type ${declaration.type}, and stored with the type ${type}.`;
    yield { kind: 'type', flag, message };
  }
  const described = describedVariants(declaration);
  const drawn = [...variants, ...stored.environments.flatMap(({ strategies }) => strategies.flatMap(variantsOf))];
  const names = new Set(drawn.map(({ name }) => name));
  if (names.size !== described.size || [...described.keys()].some((name) => !names.has(name))) {
    const message = `The flag ${flag} is declared with ${listed(described.keys())}, and stored with ${listed(names)}.`;
    yield { kind: 'variants', flag, message };
  }
  const needsNoPayload = declare === 'create' && enabledEnvironments(stored).length === 0;
  for (const { name: variant, payload } of drawn) {
    const description = described.get(variant);
    if (description === undefined || !hasPayload(description)) continue;
    if (!payload && needsNoPayload) continue;
    const issue = payload
      ? payloads.read(flag, { name: variant, payload })?.issue
      : `The variant ${variant} of flag ${flag} is declared with a payload, and stored without one.`;
    if (issue !== undefined) yield { kind: 'payload', flag, variant, message: issue };
  }
}

function variantsOf({ variants = [] }: Strategy): readonly StrategyVariant[] {
  return variants;
}

function listed(names: Iterable<string>): string {
  const sorted = [...names].sort(compareCodePoints);
  return sorted.length === 0 ? 'no variants' : `the variants ${sorted.join(', ')}`;
}

type DriftFlags = Pick<EvaluationOperations, 'refresh'> & {
  readonly apply: (changes: readonly Change[], options: ApplyOptions) => Promise<unknown>;
};

/** The options of `openFlags` for missing flags, and their dependencies. */
export interface DriftOptions {
  readonly onDrift?: (drift: readonly FlagDrift[]) => void;
  readonly declare?: Declare;
  readonly engine: FlagsEngine;
  readonly flags: DriftFlags;
  /** Called with an error of `onDrift`. */
  readonly onError: (error: unknown) => void;
}

/** Creates missing flags if requested, then reports the remaining differences. */
export async function reconcileDrift(schema: FlagsSchema, options: DriftOptions): Promise<void> {
  const { engine, flags, onDrift = warnOfDrift, onError, declare = 'report' } = options;
  if (declare === 'create') await createMissing(schema, engine, flags);
  const drift = await findDrift(schema, engine, declare);
  if (drift.length === 0) return;
  try {
    onDrift(drift);
  } catch (error) {
    onError(error);
  }
}

/** Messages in the default warning. */
const SHOWN = 10;

function warnOfDrift(drift: readonly FlagDrift[]): void {
  const shown = drift.slice(0, SHOWN).map(({ message }) => message);
  const others = drift.length - shown.length;
  const detail = [...shown, ...(others > 0 ? [`And ${others} more: call flags.drift().`] : [])].join('\n');
  emitWarning('The stored flags differ from the schema.', { code: 'drift', detail });
}

/** If another process creates them first, plan again. */
const ATTEMPTS = 5;

async function createMissing(schema: FlagsSchema, engine: FlagsEngine, flags: DriftFlags): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { documents } = engine.replica;
    const missing = Object.entries(schema.flags).filter(([flag]) => !documents.flags.has(flag));
    try {
      return await applyInSets(missing.map(toChanges), flags);
    } catch (error) {
      if (!isFlagsError(error) || error.code !== 'flag_exists' || attempt === ATTEMPTS) throw error;
      await flags.refresh();
    }
  }
}

/** Applies one change set, or several if the flags exceed the limits of a set. */
async function applyInSets(changesByFlag: readonly (readonly Change[])[], flags: DriftFlags): Promise<void> {
  if (changesByFlag.length === 0) return;
  const changes = changesByFlag.flat();
  try {
    if (changes.length > LIMITS.changesPerSet) throw new FlagsError('change_set_too_large', 'Too many changes.');
    await flags.apply(changes, { reason: 'Declared in the schema' });
  } catch (error) {
    if (!isFlagsError(error) || error.code !== 'change_set_too_large' || changesByFlag.length === 1) throw error;
    const middle = Math.ceil(changesByFlag.length / 2);
    await applyInSets(changesByFlag.slice(0, middle), flags);
    await applyInSets(changesByFlag.slice(middle), flags);
  }
}

function toChanges([name, declaration]: readonly [string, FlagDeclaration]): readonly Change[] {
  const { project = DEFAULT_PROJECT, type, description } = declaration;
  const input = { name, ...(type !== undefined && { type }), ...(description !== undefined && { description }) };
  const variants = [...describedVariants(declaration).keys()].map((variant) => ({ name: variant }));
  const create: Change = { op: 'createFlag', ref: { project }, input };
  if (variants.length === 0) return [create];
  return [create, { op: 'setVariants', ref: { project, flag: name }, input: variants }];
}
