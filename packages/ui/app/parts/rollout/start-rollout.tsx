import { useState } from 'preact/hooks';
import type { Rollout } from '../../api/types.js';
import { Button, Checkbox, IconButton } from '../control/controls.js';
import { ChangeDialog } from '../form/dialog.js';
import { SelectField, TextField } from '../form/field.js';

interface StartRolloutProps {
  readonly place: Rollout['ref'];
  /** The percentage now. */
  readonly from: number;
  readonly onClose: () => void;
}

/** A step of the form: numbers as text, because a field may be empty. */
interface StepDraft {
  readonly percentage: string;
  readonly count: string;
  readonly unit: Unit;
}

type Unit = 'minutes' | 'hours' | 'days' | 'wait';

const MILLISECONDS: Readonly<Record<Exclude<Unit, 'wait'>, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

const UNITS: readonly (readonly [Unit, string])[] = [
  ['minutes', 'minutes'],
  ['hours', 'hours'],
  ['days', 'days'],
  ['wait', 'until I advance it'],
];

const MOST_STEPS = 20;

/** Proposes steps above the present percentage. */
function firstSteps(from: number): readonly StepDraft[] {
  const higher = [5, 25, 50].filter((one) => one > from);
  return [...higher, 100].map((percentage) => ({ percentage: `${percentage}`, count: '1', unit: 'days' }));
}

/** Starts a rollout of a strategy in steps. The review says when, and which approval it needs. */
export function StartRollout({ place, from, onClose }: StartRolloutProps) {
  const { flag, environment } = place;
  const [steps, setSteps] = useState(() => firstSteps(from));
  const [guarded, setGuarded] = useState(false);
  const update = (index: number, change: Partial<StepDraft>) =>
    setSteps(steps.map((one, at) => (at === index ? { ...one, ...change } : one)));
  const start = () => {
    const input = { steps: steps.map((step, index) => toStep(step, index === steps.length - 1)), guarded };
    return {
      title: `Roll ${flag} out in ${environment}, in steps`,
      changes: [{ op: 'startRollout' as const, ref: { ...place }, input }],
      isReviewed: true,
      confirm: `Start with ${input.steps[0]?.percentage} %`,
      done: `The rollout of ${flag} has started with ${input.steps[0]?.percentage} %.`,
    };
  };
  return (
    <ChangeDialog
      title={`Roll ${flag} out in ${environment}, in steps`}
      size="large"
      submit="Review the rollout"
      proposal={start}
      onClose={onClose}
    >
      <p class="muted">
        It is {from} % now. The first step is taken at the start. Any other change of the strategy ends the rollout.
      </p>
      <ol class="step-rows">
        {steps.map((step, index) => (
          <StepRow
            key={index}
            step={step}
            index={index}
            isLast={index === steps.length - 1}
            onChange={(change) => update(index, change)}
            onRemove={steps.length > 1 ? () => setSteps(steps.filter((_, at) => at !== index)) : undefined}
          />
        ))}
      </ol>
      {steps.length < MOST_STEPS && (
        <Button class="quiet" onClick={() => setSteps([...steps, { percentage: '100', count: '1', unit: 'days' }])}>
          Add a step
        </Button>
      )}
      <Checkbox isChecked={guarded} onChange={setGuarded}>
        Take steps only where a guard watches
      </Checkbox>
    </ChangeDialog>
  );
}

interface StepRowProps {
  readonly step: StepDraft;
  readonly index: number;
  readonly isLast: boolean;
  readonly onChange: (change: Partial<StepDraft>) => void;
  readonly onRemove: (() => void) | undefined;
}

function StepRow({ step, index, isLast, onChange, onRemove }: StepRowProps) {
  const label = `step ${index + 1}`;
  return (
    <li>
      <TextField
        label={`Step ${index + 1} in percent`}
        type="number"
        min={0}
        max={100}
        step={1}
        required
        path={`/steps/${index}/percentage`}
        value={step.percentage}
        onChange={(percentage) => onChange({ percentage })}
      />
      {!isLast && step.unit !== 'wait' && (
        <TextField
          label={`Step ${index + 1} stays`}
          type="number"
          min={0}
          required
          path={`/steps/${index}/hold`}
          value={step.count}
          onChange={(count) => onChange({ count })}
        />
      )}
      {!isLast && (
        <SelectField
          label={`Unit of ${label}`}
          value={step.unit}
          options={UNITS}
          onChange={(unit) => onChange({ unit: unit as Unit })}
        />
      )}
      {onRemove && <IconButton icon="close" label={`Remove ${label}`} onClick={onRemove} />}
    </li>
  );
}

function toStep({ percentage, count, unit }: StepDraft, isLast: boolean) {
  if (isLast) return { percentage: Number(percentage), hold: 0 };
  return {
    percentage: Number(percentage),
    hold: unit === 'wait' ? null : Math.round(Number(count) * MILLISECONDS[unit]),
  };
}
