import type { SetContext } from '../changesets/engine.js';
import type { ChangeSetUnit } from '../changesets/unit-of-work.js';
import type { Actor, PreparedChange } from '../engine/engine.js';
import { FlagsError } from '../errors.js';
import type { ParameterValue, StrategyParameters } from '../evaluation/definitions.types.js';
import { percentageParameter } from '../evaluation/strategies.js';
import { changeFlag } from '../flags/change-flag.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { findStrategy, replaceStrategy } from '../flags/strategies.decide.js';
import type { Strategy, StrategyInput } from '../flags/strategy.types.js';
import type { Read, Versioned } from '../storage/documents.js';
import type { FlagsStorage } from '../storage/port.js';
import { FlagHasChanged, findEnd } from './changed-flag.js';
import type { Move } from './rollout.decide.js';
import type { OriginalParameter, RolloutState } from './rollout.js';
import { rolloutDocuments } from './rollout.kind.js';

/** A set that moves a rollout. */
export interface MovingChanges {
  readonly changes: readonly [PreparedChange];
  readonly context: {
    readonly origin: string;
    readonly finishSet: NonNullable<SetContext['finishSet']>;
  };
}

/**
 * Prepares a set that moves a rollout: it changes the percentage, and writes the rollout. Both are decided on the state of
 * the commit, which expects the revision of the flag that was compared.
 *
 * @param op the operation, which the planned events of the rollout name
 * @param decide undefined: there is nothing to do, and nothing is committed
 */
export function prepareMove(
  { storage }: { readonly storage: FlagsStorage },
  { id, ref }: Pick<RolloutState, 'id' | 'ref'>,
  { op, decide }: { readonly op?: string; readonly decide: (rollout: RolloutState) => Move | undefined },
): MovingChanges {
  const subject = { kind: flagDocuments.kind, id: ref.flag };
  const change: PreparedChange = {
    subject,
    revisionOf: { kind: rolloutDocuments.kind, id },
    op: 'updateStrategy',
    async decide(unit, by) {
      const { state } = await findRollout(unit.read, id);
      const parameter = decide(state)?.parameter;
      if (!parameter) return;
      const end = await findEnd(unit.read, storage, state);
      if (end) throw new FlagHasChanged(state, end);
      const change = changeFlag(ref, {
        decide: (flag) => replaceStrategy(flag, ref, withParameter(findStrategy(flag, ref), parameter)),
        result: () => undefined,
      });
      await change.decide(unit, by);
    },
    result: () => undefined,
  };
  async function finishSet(unit: ChangeSetUnit, _: Actor, set: { readonly id: string; readonly at: string }) {
    const { state } = await findRollout(unit.read, id);
    const move = decide(state);
    const isApproved = state.approval !== null && !move?.isEarly;
    if (!move) return () => (isApproved ? undefined : 'The rollout lacks approval.');
    if (op !== undefined) unit.begin({ op });
    const flagRevision = move.parameter ? await revisionAfter(unit, ref.flag) : state.flagRevision;
    await unit.apply(rolloutDocuments, id, move.events({ ...set, flagRevision }));
    return () => (isApproved ? undefined : 'The rollout lacks approval.');
  }
  return {
    changes: [change],
    context: { origin: `${rolloutDocuments.kind}/${id}`, finishSet },
  };
}

/** Returns the revision in which a set will leave a flag. */
async function revisionAfter(unit: ChangeSetUnit, flag: string): Promise<number> {
  const stored = (await unit.stored({ kind: flagDocuments.kind, id: flag }))?.revision ?? 0;
  return unit.written(flagDocuments).has(flag) ? stored + 1 : stored;
}

/** Resolves to the rollout. Rejects with `rollout_not_found`. */
export async function findRollout(read: Read, id: string): Promise<Versioned<RolloutState>> {
  const found = await read(rolloutDocuments, id);
  if (found) return found;
  throw rolloutNotFound(id);
}

/** Returns the error for a rollout that does not exist, and for one that the caller may not read. */
export function rolloutNotFound(id: string): FlagsError {
  return new FlagsError('rollout_not_found', `There is no rollout ${id}; list the rollouts for existing ids.`);
}

/** Returns the strategy with another percentage, of the type that the parameter has, or with its parameter from before. */
export function withParameter(
  { id: _id, ...strategy }: Strategy,
  written: NonNullable<Move['parameter']>,
): StrategyInput<string> {
  const name = percentageParameter(strategy.name);
  if (name === undefined) return strategy;
  if ('original' in written) return { ...strategy, parameters: restored(strategy.parameters, name, written.original) };
  const value = typeof strategy.parameters?.[name] === 'number' ? written.percentage : `${written.percentage}`;
  return { ...strategy, parameters: { ...strategy.parameters, [name]: value } };
}

function restored(
  parameters: StrategyParameters | null,
  name: string,
  original: OriginalParameter,
): StrategyParameters | null {
  if (original === null) return null;
  const { [name]: _written, ...others } = parameters ?? {};
  if (original.value === undefined) return others;
  return { ...parameters, [name]: original.value };
}

/** Returns what {@link withParameter} writes back. */
export function originalOf({ parameters }: Pick<Strategy, 'parameters'>, name: string): OriginalParameter {
  if (parameters === null) return null;
  const value: ParameterValue | undefined = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return value === undefined ? {} : { value };
}
