import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { FlagDetail, FlagEnvironment } from '../../api/types.js';
import { Button, Checkbox, IconButton } from '../../parts/control/controls.js';
import { FormDialog } from '../../parts/form/dialog.js';
import { ReasonField, SelectField, TextField } from '../../parts/form/field.js';
import { showToast } from '../../state/toasts.js';

type Strategy = FlagEnvironment['strategies'][number];

interface StartRolloutProps {
  readonly detail: Pick<FlagDetail, 'name' | 'project'>;
  readonly environment: string;
  readonly strategy: Strategy;
  readonly onClose: () => void;
}

/** A step of the form: numbers as text, because a field may be empty. */
interface StepDraft {
  readonly rollout: string;
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
  return [...higher, 100].map((rollout) => ({ rollout: `${rollout}`, count: '1', unit: 'days' }));
}

/** Starts a rollout of a strategy in steps. */
export function StartRollout({ detail: { name, project }, environment, strategy, onClose }: StartRolloutProps) {
  const from = Number(strategy.parameters?.rollout ?? 0);
  const [steps, setSteps] = useState(() => firstSteps(from));
  const [guarded, setGuarded] = useState(false);
  const [reason, setReason] = useState('');
  const update = (index: number, change: Partial<StepDraft>) =>
    setSteps(steps.map((one, at) => (at === index ? { ...one, ...change } : one)));
  const start = async () => {
    const body = {
      ref: { project, flag: name, environment, strategy: strategy.id },
      steps: steps.map((step, index) => toStep(step, index === steps.length - 1)),
      guarded,
      ...(reason.trim() && { reason: reason.trim() }),
    };
    await call('startRollout', { body });
    onClose();
    showToast({ tone: 'done', text: `The rollout of ${name} has started with ${steps[0]?.rollout} %.` });
    await invalidateAfterChange();
  };
  return (
    <FormDialog
      title={`Roll ${name} out in ${environment}, in steps`}
      size="large"
      submit={`Start with ${steps[0]?.rollout || '…'} %`}
      onSubmit={start}
      onClose={onClose}
    >
      <p class="muted">
        It is {from} % now. The first step is taken at once. Any other change of the strategy ends the rollout.
      </p>
      <ol class="step-rows">
        {steps.map((step, index) => {
          const label = `step ${index + 1}`;
          const isLast = index === steps.length - 1;
          return (
            <li key={index}>
              <TextField
                label={`Step ${index + 1} in percent`}
                type="number"
                min={0}
                max={100}
                step={0.1}
                required
                path={`/steps/${index}/rollout`}
                value={step.rollout}
                onChange={(rollout) => update(index, { rollout })}
              />
              {!isLast && step.unit !== 'wait' && (
                <TextField
                  label={`Step ${index + 1} stays`}
                  type="number"
                  min={0}
                  required
                  path={`/steps/${index}/hold`}
                  value={step.count}
                  onChange={(count) => update(index, { count })}
                />
              )}
              {!isLast && (
                <SelectField
                  label={`Unit of ${label}`}
                  value={step.unit}
                  options={UNITS}
                  onChange={(unit) => update(index, { unit: unit as Unit })}
                />
              )}
              {steps.length > 1 && (
                <IconButton
                  icon="close"
                  label={`Remove ${label}`}
                  onClick={() => setSteps(steps.filter((_, at) => at !== index))}
                />
              )}
            </li>
          );
        })}
      </ol>
      {steps.length < MOST_STEPS && (
        <Button class="quiet" onClick={() => setSteps([...steps, { rollout: '100', count: '1', unit: 'days' }])}>
          Add a step
        </Button>
      )}
      <Checkbox isChecked={guarded} onChange={setGuarded}>
        Take steps only where a guard watches
      </Checkbox>
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

function toStep({ rollout, count, unit }: StepDraft, isLast: boolean) {
  if (isLast) return { rollout: Number(rollout) };
  return { rollout: Number(rollout), hold: unit === 'wait' ? null : Math.round(Number(count) * MILLISECONDS[unit]) };
}
