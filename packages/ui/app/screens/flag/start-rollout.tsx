import { useState } from 'preact/hooks';
import { type ApiError, call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { FlagDetail, FlagEnvironment } from '../../api/types.js';
import { type Way, waysOf } from '../../model/ways.js';
import { Button, Checkbox, IconButton } from '../../parts/control/controls.js';
import { FormDialog } from '../../parts/form/dialog.js';
import { ReasonField, SelectField, TextField } from '../../parts/form/field.js';
import { NeedsApproval, WayField } from '../../parts/review/way-field.js';
import { approvalPolicy, approvalsOf } from '../../state/approvals.js';
import { proposedMessage, repeatUnknown, showPostponed } from '../../state/changes.js';
import { offers } from '../../state/session.js';
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
  const { approvals, ways, way, setChosen, setRefused } = useWays(project, environment);
  const bypasses = approvals !== undefined && way === 'now';
  const startText = `Start with ${steps[0]?.rollout || '…'} %`;
  const start = async () => {
    const rollout = {
      ref: { project, flag: name, environment, strategy: strategy.id },
      steps: steps.map((step, index) => toStep(step, index === steps.length - 1)),
      guarded,
    };
    const why = reason.trim();
    if (way === 'propose') {
      const body = { rollout, reason: why };
      const { data } = await repeatUnknown((key) => call('createProposal', { body, key }));
      showPostponed(proposedMessage(data));
    } else {
      const body = { ...rollout, ...(why && !bypasses && { reason: why }) };
      await call('startRollout', { body, bypass: bypasses ? why : undefined }).catch((error: ApiError) => {
        if (error.code === 'approval_required') setRefused(error);
        throw error;
      });
      showToast({ tone: 'done', text: `The rollout of ${name} has started with ${steps[0]?.rollout} %.` });
    }
    onClose();
    await invalidateAfterChange();
  };
  return (
    <FormDialog
      title={`Roll ${name} out in ${environment}, in steps`}
      size="large"
      submit={way === 'propose' ? 'Propose' : bypasses ? `${startText}, without approval` : startText}
      isDanger={bypasses}
      blocked={way === undefined ? 'It needs approval.' : undefined}
      onSubmit={start}
      onClose={onClose}
    >
      <p class="muted">
        It is {from} % now. The first step is taken at {way === 'propose' ? 'the start' : 'once'}. Any other change of
        the strategy ends the rollout.
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
      {approvals && <NeedsApproval approvals={approvals} ways={ways} />}
      <WayField ways={ways} way={way} needsApproval={approvals !== undefined} onChange={setChosen} />
      <ReasonField
        use={bypasses ? 'bypass' : way === 'propose' ? 'proposal' : 'change'}
        value={reason}
        onChange={setReason}
      />
    </FormDialog>
  );
}

/** How a rollout may start in an environment: every one needs approval where a policy protects it. */
function useWays(project: string, environment: string) {
  const [chosen, setChosen] = useState<Way>();
  const [refused, setRefused] = useState<ApiError>();
  const own = approvalPolicy.value.environments[environment];
  const approvals = own ? { environments: [environment], ...own } : refused && approvalsOf(refused);
  const ways = waysOf({
    needsApproval: approvals !== undefined,
    canSchedule: false,
    canPropose: offers('createProposal', project),
    mayBypass: offers('bypassApproval', project),
  });
  const way = ways.find((one) => one === chosen) ?? ways[0];
  return { approvals, ways, way, setChosen, setRefused };
}

function toStep({ rollout, count, unit }: StepDraft, isLast: boolean) {
  if (isLast) return { rollout: Number(rollout) };
  return { rollout: Number(rollout), hold: unit === 'wait' ? null : Math.round(Number(count) * MILLISECONDS[unit]) };
}
