import { holdText, type StrategyRollout, stepTimes } from '../../model/rollout.js';
import { time } from '../../words.js';

interface RolloutStepsProps {
  /** The accessible name: "Steps of the rollout of checkout". */
  readonly label: string;
  readonly steps: StrategyRollout['steps'];
  /** Undefined: the rollout has not started. */
  readonly rollout?: StrategyRollout;
}

/** The steps of a rollout as a bar, with dates. It is filled up to the step that is taken. */
export function RolloutSteps({ label, steps, rollout }: RolloutStepsProps) {
  const times = rollout ? stepTimes(rollout) : [];
  const step = rollout?.step ?? -1;
  return (
    <ol class="rollout-steps" aria-label={label}>
      {steps.map(({ percentage, hold }, index) => {
        const at = times[index];
        const isCurrent = index === step;
        return (
          <li
            key={index}
            class={index <= step ? 'taken' : undefined}
            aria-current={isCurrent ? 'step' : undefined}
            title={holdText(hold)}
          >
            <strong>{percentage} %</strong>
            <small>
              {at !== undefined
                ? `${isCurrent ? 'since ' : ''}${time(at)}`
                : index > step && hold !== 0 && holdText(hold)}
            </small>
          </li>
        );
      })}
    </ol>
  );
}
