import type { ChangeContext, ListPage, PageQuery, StrategyRef } from '../../base/common.types.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { AdvanceOptions, EndedRollout, NewRollout, Rollout, RolloutQuery, StopOptions } from './rollout.types.js';
import { rolloutOperations as operations } from './rollouts.operations.js';

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
    return run(this, operations.startRollout, { ref, input: rollout, context });
  }

  /**
   * Pauses a rollout. Its hold runs on, so its next step may follow as soon as it is resumed. Does nothing to a paused one.
   *
   * @throws FlagsError `rollout_not_found`; as `updateStrategy`
   * @example
   * await flags.rollouts.pause(strategy, { reason: 'The error rate rises' });
   */
  pause(ref: StrategyRef, context?: ChangeContext): Promise<Rollout> {
    return run(this, operations.pauseRollout, { ref, context });
  }

  /**
   * Resumes a paused rollout. Does nothing to one that is not paused.
   *
   * @throws FlagsError as `pause`
   * @example
   * await flags.rollouts.resume(strategy);
   */
  resume(ref: StrategyRef, context?: ChangeContext): Promise<Rollout> {
    return run(this, operations.resumeRollout, { ref, context });
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
    return run(this, operations.advanceRollout, { ref, input: options ?? {}, context });
  }

  /**
   * Ends a rollout. The percentage stays, or becomes that from before the start.
   *
   * @throws FlagsError as `pause`
   * @example
   * await flags.rollouts.stop(strategy, { rollback: true }, { reason: 'Payments fail' });
   */
  stop(ref: StrategyRef, options?: StopOptions, context?: ChangeContext): Promise<EndedRollout> {
    return run(this, operations.stopRollout, { ref, input: options ?? {}, context });
  }

  /**
   * Lists rollouts by flag, environment and strategy, from memory. One that has ended is in the events only.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.rollouts.list({ project: 'default', flag: 'checkout' });
   */
  list(query?: RolloutQuery, page?: PageQuery): Promise<ListPage<Rollout>> {
    return run(this, operations.listRollouts, { input: query, context: page });
  }
}
