import { useState } from 'preact/hooks';
import type { ActionName } from '../../api/actions.js';
import { call } from '../../api/call.js';
import { invalidateAfterChange } from '../../api/resource.js';
import type { Rollout } from '../../api/types.js';
import { isActive } from '../../state/rollouts.js';
import { attempt } from '../../state/toasts.js';
import { time } from '../../words.js';
import { Ago } from '../control/answer.js';
import { Button, Checkbox, DialogButton, Link } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { ReasonField } from '../form/field.js';
import { holdText, ROLLOUT_STATES, rolloutAdvice } from './rollout-words.js';

interface RolloutListProps {
  readonly rollouts: readonly Rollout[];
  /** The flag of the screen, which the entries do not name. */
  readonly flag?: string;
}

/** Rollouts: the flag, the steps, what comes next, and buttons that move it. */
export function RolloutList({ rollouts, flag }: RolloutListProps) {
  return (
    <ol class="timeline">
      {rollouts.map((rollout) => {
        const { id, reason, failure, state } = rollout;
        const advice = rolloutAdvice(rollout);
        return (
          <li key={id}>
            <RolloutHead rollout={rollout} isNamed={rollout.ref.flag !== flag} />
            <Steps rollout={rollout} />
            {reason && <p class="reason">{reason}</p>}
            {advice && <p class={failure || state === 'rolled-back' ? 'fault-text' : 'muted'}>{advice}</p>}
          </li>
        );
      })}
    </ol>
  );
}

interface RolloutProps {
  readonly rollout: Rollout;
}

function RolloutHead({ rollout, isNamed }: RolloutProps & { readonly isNamed: boolean }) {
  const { state, ref, since, endedAt, author, guarded, ended, failure, approval } = rollout;
  const proposal = approval?.startsWith(PROPOSAL) ? approval.slice(PROPOSAL.length) : undefined;
  const isBroken = failure !== null || state === 'rolled-back';
  return (
    <div class="entry-head">
      <span class={isBroken ? 'tag warning' : 'tag'}>{ROLLOUT_STATES[state]}</span>
      {isNamed && <Link to={['projects', ref.project, 'flags', ref.flag]}>{ref.flag}</Link>}
      <span class="tag">{ref.environment}</span>
      <Ago at={endedAt ?? since} />
      {guarded && <span class="tag">guarded</span>}
      {proposal !== undefined && (
        <Link class="tag" to={['proposals', proposal]} action={`Go to the proposal of the rollout of ${ref.flag}`}>
          approved
        </Link>
      )}
      {approval === 'bypass' && <span class="tag warning">without approval</span>}
      <span class="muted">
        by <strong>{author.name}</strong>
      </span>
      {ended?.changeSet && (
        <Link to={['events', ended.changeSet]} label={`Show the change that ended the rollout of ${ref.flag}`}>
          Show the change
        </Link>
      )}
      {isActive(rollout) && <Moves rollout={rollout} />}
    </div>
  );
}

/** The approval of a rollout that was proposed: `proposal/ID`. */
const PROPOSAL = 'proposal/';

/** The steps in order. The one that is taken is marked. */
function Steps({ rollout: { ref, steps, step, since, endedAt } }: RolloutProps) {
  return (
    <ol class="rollout-steps" aria-label={`Steps of the rollout of ${ref.flag}`}>
      {steps.map(({ rollout, hold }, index) => {
        const isTaken = index <= step;
        const isCurrent = index === step && endedAt === null;
        return (
          <li key={index} class={isTaken ? 'taken' : undefined} aria-current={isCurrent ? 'step' : undefined}>
            <strong>{rollout} %</strong>
            <small>{isCurrent ? `since ${time(since)}` : hold !== 0 && holdText(hold)}</small>
          </li>
        );
      })}
    </ol>
  );
}

type Move = Extract<ActionName, 'pauseRollout' | 'resumeRollout' | 'advanceRollout' | 'stopRollout'>;

interface Moved {
  readonly body?: object;
  readonly reason?: string;
  readonly done: string;
}

async function move({ id }: Rollout, action: Move, { body = {}, reason, done }: Moved): Promise<void> {
  await attempt(() => call(action, { params: { rollout: id }, body, reason }), done);
  await invalidateAfterChange();
}

function Moves({ rollout }: RolloutProps) {
  const { ref, state, steps, step } = rollout;
  const needed = { class: 'quiet', needs: ['changeRollout'], project: ref.project } as const;
  const next = steps[step + 1];
  const name = `the rollout of ${ref.flag} in ${ref.environment}`;
  const advance = next ? `Advance to ${next.rollout} %` : 'Finish';
  return (
    <span class="end">
      {state === 'paused' ? (
        <Button
          {...needed}
          label={`Resume ${name}`}
          onClick={() => move(rollout, 'resumeRollout', { done: 'The rollout goes on.' })}
        >
          Resume
        </Button>
      ) : (
        <Button
          {...needed}
          label={`Pause ${name}`}
          onClick={() => move(rollout, 'pauseRollout', { done: 'The rollout is paused.' })}
        >
          Pause
        </Button>
      )}
      <DialogButton
        {...needed}
        label={`${advance}: ${name}`}
        dialog={(close) => <AdvanceDialog rollout={rollout} onClose={close} />}
      >
        {advance}…
      </DialogButton>
      <DialogButton
        {...needed}
        label={`Stop ${name}`}
        dialog={(close) => <StopDialog rollout={rollout} onClose={close} />}
      >
        Stop…
      </DialogButton>
    </span>
  );
}

interface DialogProps extends RolloutProps {
  readonly onClose: () => void;
}

/** Names the step, so that two people who advance at once advance it once. */
function AdvanceDialog({ rollout, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const { ref, steps, step } = rollout;
  const next = steps[step + 1];
  const title = next
    ? `Advance ${ref.flag} to ${next.rollout} % in ${ref.environment}?`
    : `Finish the rollout of ${ref.flag}?`;
  const advance = async () => {
    onClose();
    await move(rollout, 'advanceRollout', { body: { step: step + 1 }, reason, done: 'The rollout was advanced.' });
  };
  return (
    <FormDialog
      title={title}
      submit={next ? `Advance to ${next.rollout} %` : 'Finish'}
      onSubmit={advance}
      onClose={onClose}
    >
      <p>It does not wait for the rest of this step, and asks no guard.</p>
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}

function StopDialog({ rollout, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const [rollback, setRollback] = useState(false);
  const { ref, steps, step, startedFrom } = rollout;
  const stop = async () => {
    onClose();
    await move(rollout, 'stopRollout', { body: { rollback }, reason, done: 'The rollout was stopped.' });
  };
  return (
    <FormDialog
      title={`Stop the rollout of ${ref.flag} in ${ref.environment}?`}
      submit={rollback ? `Stop, back to ${startedFrom} %` : `Stop at ${steps[step]?.rollout ?? 0} %`}
      dismiss="Keep it"
      isDanger
      onSubmit={stop}
      onClose={onClose}
    >
      <Checkbox isChecked={rollback} onChange={setRollback}>
        {`Go back to ${startedFrom} %, as before the start`}
      </Checkbox>
      <ReasonField value={reason} onChange={setReason} />
    </FormDialog>
  );
}
