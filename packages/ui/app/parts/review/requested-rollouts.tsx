import { strategyTitle } from '@flags/core/admin';
import type { Change, FlagEnvironment, PlannedDocument } from '../../api/types.js';
import { findSegmentName, rolloutOf } from '../../model/describe.js';
import type { StrategyRollout } from '../../model/rollout.js';
import { RolloutSteps } from '../rollout/rollout-steps.js';

interface RequestedRolloutsProps {
  readonly changes: readonly Change[];
  readonly documents: readonly PlannedDocument[];
}

/** The rollouts that changes start: which strategy, from which percentage, in which steps, and whether it is guarded. */
export function RequestedRollouts({ changes, documents }: RequestedRolloutsProps) {
  return (
    <>
      {changes.map(({ op, ref, input }) => {
        if (op !== 'startRollout') return null;
        const document = documents.find(({ kind, id }) => kind === 'flag' && id === ref?.flag);
        const { environments = [] } = Object(document?.before) as {
          readonly environments?: readonly FlagEnvironment[];
        };
        const { strategies = [] } = environments.find(({ name }) => name === ref?.environment) ?? {};
        const index = strategies.findIndex(({ id }) => id === ref?.strategy);
        const strategy = strategies[index];
        const { steps, guarded = false } = input as Pick<StrategyRollout, 'steps'> & { readonly guarded?: boolean };
        const title = strategy && (strategy.title || strategyTitle(strategy, findSegmentName));
        return (
          <div key={`${ref?.flag} ${ref?.strategy}`}>
            <p>
              <strong>{ref?.flag}</strong> in {ref?.environment}
              {title && `: strategy ${index + 1}, ${title}, from ${rolloutOf(strategy) ?? 0} %`}
              {guarded ? ', only where a guard watches' : ', without a guard'}
            </p>
            <RolloutSteps
              label={`Steps of the rollout of ${ref?.flag} in ${ref?.environment}`}
              steps={steps.map(({ percentage, hold = 0 }) => ({ percentage, hold }))}
            />
          </div>
        );
      })}
    </>
  );
}
