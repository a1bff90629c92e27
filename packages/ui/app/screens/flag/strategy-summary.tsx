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
import type { Strategy } from '../../api/types.js';
import { findSegmentName, rolloutOf } from '../../model/describe.js';
import { Link } from '../../parts/control/controls.js';
import { session } from '../../state/session.js';

/** Strategies in words, in the order of evaluation. */
export function Strategies({ strategies }: { readonly strategies: readonly Strategy[] }) {
  return (
    <ol class="strategies">
      {strategies.map((strategy, index) => (
        <StrategySummary key={strategy.id} strategy={strategy} index={index} />
      ))}
    </ol>
  );
}

/** A strategy in words: its users, and their share. */
function StrategySummary({ strategy, index }: { readonly strategy: Strategy; readonly index: number }) {
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
    </li>
  );
}
