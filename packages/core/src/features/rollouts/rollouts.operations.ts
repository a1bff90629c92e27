import { assertEnvironment } from '../../base/assert-environment.js';
import { compareCodePoints } from '../../base/collections.js';
import type { ChangeContext, ListPage, PageQuery, StrategyRef } from '../../base/common.types.js';
import { copyJson } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { pageBounds, takePage } from '../../base/pages.js';
import { assertText, invalidInput } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { authorOf, type Engine, type PreparedChange, type SetAuthor, type UnitOfWork } from '../../kernel/engine.js';
import {
  type Call,
  call,
  defineOperations,
  NO_REFERENCE,
  operation,
  type Page,
  STRATEGY,
} from '../../kernel/operation.js';
import type { FlagState } from '../flags/flag.js';
import { type FlagEvent, findFlag, flagDocuments, throwFlagNotFound } from '../flags/flag.kind.js';
import * as rules from '../flags/rollouts.decide.js';
import type { RolloutStep } from '../flags/strategy-rollout.types.js';
import { type KnownRollout, type RollingFlags, toRollout } from './rolling-flags.js';
import { validateRolloutQuery } from './rollout.schema.js';
import type { AdvanceOptions, EndedRollout, NewRollout, Rollout, RolloutQuery, StopOptions } from './rollout.types.js';

/** What operations on rollouts need beside the rest of the engine. */
export interface RolloutEngine extends Engine {
  readonly rolling: RollingFlags;
}

type Decide = (flag: FlagState, unit: UnitOfWork, by: SetAuthor) => readonly FlagEvent[];

/** Prepares a change of a rollout. It changes no reference to another document. */
function changeRollout(engine: Engine, ref: StrategyRef, decide: Decide): PreparedChange<Rollout | EndedRollout> {
  return {
    subject: { kind: flagDocuments.kind, id: ref.flag },
    async decide(unit, by) {
      assertEnvironment(engine, ref.environment);
      assertText('strategy', ref.strategy);
      const { state } = await findFlag(unit.read, ref);
      await unit.apply(flagDocuments, state.name, decide(state, unit, by));
    },
    result: async ({ read }) =>
      toRollout((await read(flagDocuments, ref.flag))?.state ?? throwFlagNotFound(ref.flag), ref),
  };
}

function startRollout(engine: RolloutEngine, ref: StrategyRef, input: NewRollout): PreparedChange<Rollout> {
  const { steps, guarded = false } = input;
  const started = { steps: steps.map(toStep), guarded };
  return changeRollout(engine, ref, (flag, unit, by) => {
    const events = rules.startRollout(flag, ref, started, { author: authorOf(by), at: by.at });
    assertRoom(engine, unit);
    return events;
  }) as PreparedChange<Rollout>;
}

function toStep({ percentage, hold = 0 }: NewRollout['steps'][number]): RolloutStep {
  return { percentage, hold };
}

/**
 * Throws `invalid_input` beyond the limit of rollouts. Each process counts by itself, so several may exceed the limit
 * together.
 */
function assertRoom({ rolling }: RolloutEngine, unit: UnitOfWork): void {
  if (rolling.countWith(unit.written(flagDocuments)) < LIMITS.activeRollouts) return;
  const message = `would be one too many: at most ${LIMITS.activeRollouts} strategies may roll out. Stop some`;
  throw invalidInput([{ message, path: '' }]);
}

function pauseRollout(engine: Engine, ref: StrategyRef): PreparedChange<Rollout> {
  return changeRollout(engine, ref, (flag) => rules.pauseRollout(flag, ref)) as PreparedChange<Rollout>;
}

function resumeRollout(engine: Engine, ref: StrategyRef): PreparedChange<Rollout> {
  return changeRollout(engine, ref, (flag) => rules.resumeRollout(flag, ref)) as PreparedChange<Rollout>;
}

function advanceRollout(
  engine: Engine,
  ref: StrategyRef,
  { step }: AdvanceOptions = {},
): PreparedChange<Rollout | EndedRollout> {
  return changeRollout(engine, ref, (flag, _, { at }) => rules.advanceRollout(flag, ref, { step, at }));
}

function stopRollout(
  engine: Engine,
  ref: StrategyRef,
  { rollback = false }: StopOptions = {},
): PreparedChange<EndedRollout> {
  return changeRollout(engine, ref, (flag) => rules.stopRollout(flag, ref, rollback)) as PreparedChange<EndedRollout>;
}

/** Decides whether the caller may read a rollout. */
export type CanReadRollout = (rollout: Rollout) => Promise<boolean>;

/** Lists rollouts from memory, by flag, environment and strategy. */
export async function listRollouts(
  { rolling }: Pick<RolloutEngine, 'rolling'>,
  query: RolloutQuery = {},
  { page, canRead }: { readonly page?: PageQuery | undefined; readonly canRead?: CanReadRollout } = {},
): Promise<ListPage<Rollout>> {
  const { state, project, flag } = validateRolloutQuery(query);
  const bounds = pageBounds(page);
  const { after } = bounds;
  const isSelected = ({ key, rollout: { ref, ...rollout } }: KnownRollout) =>
    (flag ?? ref.flag) === ref.flag &&
    (project ?? ref.project) === ref.project &&
    (state ?? rollout.state) === rollout.state &&
    (after === undefined || compareCodePoints(key, after) > 0);
  const selected = [...rolling.all()].filter(isSelected).sort((one, other) => compareCodePoints(one.key, other.key));

  async function* readable(): AsyncGenerator<KnownRollout> {
    for (const known of selected) if (!canRead || (await canRead(known.rollout))) yield known;
  }
  const found = await takePage(readable(), bounds, {
    cursorOf: ({ key }) => key,
    sizeOf: ({ rollout }) => JSON.stringify(rollout).length,
  });
  // Callers may change what they get.
  return { ...found, items: found.items.map(({ rollout }) => copyJson(rollout) as Rollout) };
}

export const rolloutOperations = defineOperations({
  startRollout: operation({
    method: 'rollouts.start',
    ref: STRATEGY,
    input: 'newRollout',
    needsDue: true,
    prepare: startRollout,
  }),
  pauseRollout: operation({ method: 'rollouts.pause', ref: STRATEGY, prepare: pauseRollout }),
  resumeRollout: operation({ method: 'rollouts.resume', ref: STRATEGY, prepare: resumeRollout }),
  advanceRollout: operation({
    method: 'rollouts.advance',
    ref: STRATEGY,
    input: 'rolloutAdvance',
    isInputOptional: true,
    prepare: advanceRollout,
  }),
  stopRollout: operation({
    method: 'rollouts.stop',
    ref: STRATEGY,
    input: 'rolloutStop',
    isInputOptional: true,
    prepare: stopRollout,
  }),
  listRollouts: call({
    method: 'rollouts.list',
    ref: NO_REFERENCE,
    run: (engine: RolloutEngine, { input, context }: Call<undefined, RolloutQuery | undefined, Page>) =>
      listRollouts(engine, input, { page: context }),
  }),
});

/** Percentages that change in steps. A rollout is a part of its flag: `ifRevision` is the flag's revision. */
export class Rollouts extends Namespace {
  /**
   * Changes the percentage of a strategy in steps. The first step is taken at once. Each one stays for its `hold`, counted
   * from when it was really taken, so that no step is skipped after an outage. A process with `due: { run: true }` takes the
   * steps, or `runDue` does.
   *
   * Another change of the strategy, but of its `sortOrder`, ends the rollout. So do switching the flag off there, and
   * archiving, moving or deleting it. In change sets the operation is `startRollout`.
   *
   * @throws FlagsError as `updateStrategy`; `rollout_exists`; `environment_disabled` if the flag is off there, or the
   * strategy is disabled; `due_disabled` without the option `due.run`; `invalid_input` also for a strategy without a
   * percentage, and beyond 1,000 rollouts
   * @example
   * const steps = [{ percentage: 5, hold: 3_600_000 }, { percentage: 25, hold: null }, { percentage: 100 }];
   * await flags.rollouts.start({ ...production, strategy: id }, { steps }, { reason: 'Launch' });
   */
  start(ref: StrategyRef, rollout: NewRollout, context?: ChangeContext): Promise<Rollout> {
    return run(this, rolloutOperations.startRollout, { ref, input: rollout, context });
  }

  /**
   * Pauses a rollout. Its hold runs on, so its next step may follow as soon as it is resumed. Does nothing to a paused one.
   *
   * @throws FlagsError `rollout_not_found`; as `updateStrategy`
   * @example
   * await flags.rollouts.pause(strategy, { reason: 'The error rate rises' });
   */
  pause(ref: StrategyRef, context?: ChangeContext): Promise<Rollout> {
    return run(this, rolloutOperations.pauseRollout, { ref, context });
  }

  /**
   * Resumes a paused rollout. Does nothing to one that is not paused.
   *
   * @throws FlagsError as `pause`
   * @example
   * await flags.rollouts.resume(strategy);
   */
  resume(ref: StrategyRef, context?: ChangeContext): Promise<Rollout> {
    return run(this, rolloutOperations.resumeRollout, { ref, context });
  }

  /**
   * Takes the next step now, without the guard. A paused rollout stays paused. After the last step the rollout ends.
   *
   * @param options `step`: does nothing if it is reached already
   * @throws FlagsError as `pause`; `invalid_input` for a step that is not the next one
   * @example
   * const { percentage } = await flags.rollouts.advance(strategy, { step: 2 });
   */
  advance(ref: StrategyRef, options?: AdvanceOptions, context?: ChangeContext): Promise<Rollout | EndedRollout> {
    return run(this, rolloutOperations.advanceRollout, { ref, input: options ?? {}, context });
  }

  /**
   * Ends a rollout. The percentage stays, or becomes that from before the start.
   *
   * @throws FlagsError as `pause`
   * @example
   * await flags.rollouts.stop(strategy, { rollback: true }, { reason: 'Payments fail' });
   */
  stop(ref: StrategyRef, options?: StopOptions, context?: ChangeContext): Promise<EndedRollout> {
    return run(this, rolloutOperations.stopRollout, { ref, input: options ?? {}, context });
  }

  /**
   * Lists rollouts by flag, environment and strategy, from memory. One that has ended is in the events only.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.rollouts.list({ project: 'default', flag: 'checkout' });
   */
  list(query?: RolloutQuery, page?: PageQuery): Promise<ListPage<Rollout>> {
    return run(this, rolloutOperations.listRollouts, { input: query, context: page });
  }
}
