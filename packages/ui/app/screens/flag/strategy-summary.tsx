import {
  describeCondition,
  describeVariant,
  HASHING,
  itemsOf,
  listOf,
  ownStrategiesOf,
  strategyTitle,
  unknownInStrategy,
} from '@flags/core/admin';
import type { FlagDetail, FlagEnvironment, Strategy } from '../../api/types.js';
import { findSegmentName, rolloutOf } from '../../model/describe.js';
import { DialogButton, Link } from '../../parts/control/controls.js';
import { RolloutDetails } from '../../parts/rollout/rollout-details.js';
import { StartRollout } from '../../parts/rollout/start-rollout.js';
import { acceptsTimes, session } from '../../state/session.js';

interface StrategiesProps {
  readonly strategies: readonly Strategy[];
  readonly environment: FlagEnvironment;
  /** The flag, if rollouts of its strategies can be started and moved. A past state has none. */
  readonly flag: FlagDetail | undefined;
}

/** Strategies in words, in the order of evaluation. */
export function Strategies({ strategies, ...place }: StrategiesProps) {
  return (
    <ol class="strategies">
      {strategies.map((strategy, index) => (
        <StrategySummary key={strategy.id} strategy={strategy} index={index} {...place} />
      ))}
    </ol>
  );
}

interface StrategySummaryProps extends Omit<StrategiesProps, 'strategies'> {
  readonly strategy: Strategy;
  readonly index: number;
}

/** A strategy in words: its users, and their share. */
function StrategySummary({ strategy, index, environment, flag }: StrategySummaryProps) {
  const { title, disabled, constraints, parameters, variants = [] } = strategy;
  const rollout = rolloutOf(strategy);
  const lists = Object.entries(parameters ?? {}).filter(([key, value]) => !HASHING.has(key) && value !== '');
  return (
    <li class={disabled ? 'strategy disabled' : 'strategy'}>
      <div class="strategy-head">
        <span class="ordinal">{index + 1}</span>
        <strong>{title || strategyTitle(strategy, findSegmentName)}</strong>
        {title && <span class="muted">{strategyTitle(strategy, findSegmentName)}</span>}
        {rollout !== undefined && (
          <span class="rollout-bar">
            <span class="bar-track">
              <span class="bar-fill" style={{ width: `${rollout}%` }} />
            </span>
            {rollout} %
          </span>
        )}
        {disabled && <span class="tag">disabled</span>}
        {unknownInStrategy({ ...strategy, constraints: [] }, ownStrategiesOf(session.value?.strategies) ?? []).map(
          (text) => (
            <span key={text} class="tag warning">
              {text}
            </span>
          ),
        )}
        {flag && <RolloutButton strategy={strategy} index={index} environment={environment} flag={flag} />}
      </div>
      <ul class="conditions">
        {(strategy.segments ?? []).map((id) => (
          <li key={`segment ${id}`}>
            in segment <Link to={['segments', id]}>{findSegmentName(id) ?? id}</Link>
          </li>
        ))}
        {constraints.map((constraint, position) => (
          <li key={`${constraint.contextName} ${position}`}>
            <b>{constraint.contextName}</b> {describeCondition(constraint)}
          </li>
        ))}
        {lists.map(([key, value]) => (
          <li key={key}>
            {key} <b>{listOf(itemsOf(value))}</b>
          </li>
        ))}
        {rollout !== undefined && parameters?.stickiness && parameters.stickiness !== 'default' && (
          <li>
            sticky by <b>{String(parameters.stickiness)}</b>
          </li>
        )}
        {variants.map((variant) => (
          <li key={`variant ${variant.name}`}>
            variant <b>{variant.name}</b> {describeVariant(variant)}
          </li>
        ))}
      </ul>
      {flag && strategy.rollout && (
        <RolloutDetails place={placeOf(strategy, environment, flag)} rollout={strategy.rollout} />
      )}
    </li>
  );
}

function placeOf({ id }: Strategy, environment: FlagEnvironment, { project, name }: FlagDetail) {
  return { project, flag: name, environment: environment.name, strategy: `${id}` };
}

/** Starts a rollout of a strategy. Absent where everybody gets it already, and where a rollout would be refused. */
function RolloutButton({ strategy, index, environment, flag }: Required<StrategySummaryProps>) {
  const from = rolloutOf(strategy);
  const isIdle = environment.enabled && !strategy.disabled && strategy.rollout === undefined;
  if (flag === undefined || from === undefined || from === 100 || !isIdle || !acceptsTimes.value) return null;
  return (
    <DialogButton
      class="quiet end"
      needs={['changeRollout', 'applyChanges']}
      project={flag.project}
      label={`Roll out in steps: strategy ${index + 1} in ${environment.name}`}
      dialog={(close) => <StartRollout place={placeOf(strategy, environment, flag)} from={from} onClose={close} />}
    >
      Roll out in steps…
    </DialogButton>
  );
}
