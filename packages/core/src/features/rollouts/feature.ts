import { describeObject } from '../../base/inputs.js';
import type { SharedEngine } from '../../kernel/changes/change-engine.js';
import type { OpenedFeature } from '../../kernel/feature.js';
import { flagDocuments } from '../flags/flag.kind.js';
import { DueSteps, type DueStepsOptions } from './due-steps.js';
import { RollingFlags } from './rolling-flags.js';
import { findRolloutIssues, newRollout, rolloutAdvance, rolloutStop } from './rollout.schema.js';
import { rolloutOperations } from './rollouts.operations.js';

/** The options of `openFlags` that rollouts read. */
export interface RolloutOptions {
  readonly due?: Omit<DueStepsOptions, 'actor'>;
  readonly actor: string;
}

function open(engine: SharedEngine, { due, actor }: RolloutOptions): OpenedFeature<{ readonly rolling: RollingFlags }> {
  const rolling = new RollingFlags(engine.memory.statesOf(flagDocuments), (at) => engine.due.wakeBy(at));
  return {
    parts: { rolling },
    onDocuments: rolling.follow,
    due: new DueSteps(engine, rolling, { ...due, actor }),
  };
}

export const rolloutsFeature = {
  name: 'rollouts',
  inputs: {
    newRollout: describeObject(newRollout, findRolloutIssues),
    rolloutAdvance: describeObject(rolloutAdvance),
    rolloutStop: describeObject(rolloutStop),
  },
  operations: rolloutOperations,
  open,
} as const;
