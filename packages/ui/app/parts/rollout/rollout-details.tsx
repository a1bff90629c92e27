import type { ComponentChildren } from 'preact';
import type { Change, Rollout } from '../../api/types.js';
import { ROLLOUT_STATES, type StrategyRollout, startedFromOf } from '../../model/rollout.js';
import type { Proposal } from '../../state/changes.js';
import { Ago } from '../control/answer.js';
import { ChangeButton } from '../form/change-button.js';
import { RolloutSteps } from './rollout-steps.js';
import { rolloutAdvice } from './rollout-words.js';

interface RolloutProps {
  readonly place: Rollout['ref'];
  readonly rollout: StrategyRollout;
}

interface RolloutDetailsProps extends RolloutProps {
  /** The name of the rollout, in places that do not show its strategy. */
  readonly children?: ComponentChildren;
}

/** A rollout: its state, its steps with dates, what comes next, and buttons that change it. */
export function RolloutDetails({ place, rollout, children }: RolloutDetailsProps) {
  const { state, guarded, author, since, failure, steps } = rollout;
  return (
    <div class="rollout">
      <div class="entry-head">
        <span class={failure ? 'tag warning' : 'tag'}>{ROLLOUT_STATES[state]}</span>
        {children}
        {guarded && <span class="tag">guarded</span>}
        <span class="muted">
          by <strong>{author.name}</strong>, this step <Ago at={since} />
        </span>
        <RolloutButtons place={place} rollout={rollout} />
      </div>
      <RolloutSteps label={`Steps of the rollout of ${place.flag}`} steps={steps} rollout={rollout} />
      <p class={failure ? 'fault-text' : 'muted'}>{rolloutAdvice(rollout)}</p>
    </div>
  );
}

interface RolloutAction extends Pick<Proposal, 'confirm' | 'text' | 'isFinal' | 'done'> {
  readonly op: Change['op'];
  readonly input?: object;
  readonly verb: string;
}

/** What a person can do with a rollout now. `advanceRollout` names the step: of two people who advance at once, one has an effect. */
function actionsOf({ state, steps, step, startedFrom }: StrategyRollout): readonly RolloutAction[] {
  const next = steps[step + 1];
  const from = startedFromOf({ startedFrom });
  const [current] = steps.slice(step);
  const pause: RolloutAction =
    state === 'paused'
      ? { op: 'resumeRollout', verb: 'Resume', done: 'The rollout goes on.', isFinal: true }
      : { op: 'pauseRollout', verb: 'Pause', done: 'The rollout is paused.', isFinal: true };
  return [
    pause,
    {
      op: 'advanceRollout',
      input: { step: step + 1 },
      verb: next ? `Advance to ${next.percentage} %` : 'Finish',
      confirm: next ? `Advance to ${next.percentage} %` : 'Finish',
      text: 'It does not wait for the rest of this step, and asks no guard.',
      done: 'The rollout was advanced.',
      isFinal: !next,
    },
    {
      op: 'stopRollout',
      verb: 'Stop',
      confirm: `Stop at ${current?.percentage ?? 0} %`,
      text: `No step follows. It stays at ${current?.percentage ?? 0} %.`,
      done: 'The rollout was stopped.',
      isFinal: true,
    },
    {
      op: 'stopRollout',
      input: { rollback: true },
      verb: 'Roll back',
      confirm: `Roll back to ${from} %`,
      text: `No step follows. It goes back to ${from} %, as before the start.`,
      done: `The rollout was rolled back to ${from} %.`,
    },
  ];
}

function RolloutButtons({ place, rollout }: RolloutProps) {
  const name = `the rollout of ${place.flag} in ${place.environment}`;
  return (
    <span class="end actions">
      {actionsOf(rollout).map(({ op, input, verb, ...action }) => (
        <ChangeButton
          key={verb}
          class="quiet"
          project={place.project}
          label={`${verb}: ${name}`}
          proposal={{
            ...action,
            title: `${verb}: ${name}`,
            changes: [{ op, ref: { ...place }, ...(input && { input }) }],
          }}
        >
          {action.confirm === undefined ? verb : `${verb}…`}
        </ChangeButton>
      ))}
    </span>
  );
}
