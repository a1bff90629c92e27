import { describeCondition, describeVariant, HASHING, itemsOf, listOf, strategyName } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import type { Constraint, Strategy } from '../api/types.js';
import { findSegmentName, rolloutOf } from '../model/describe.js';
import { Link } from './controls.js';

interface StrategySummaryProps {
  readonly strategy: Strategy;
  readonly index: number;
  readonly children?: ComponentChildren;
}

/** A strategy in words: its users, and their share. */
export function StrategySummary({ strategy, index, children }: StrategySummaryProps) {
  const { name, title, disabled, constraints, parameters, variants = [] } = strategy;
  const rollout = rolloutOf(strategy);
  const lists = Object.entries(parameters ?? {}).filter(([key, value]) => !HASHING.has(key) && value !== '');
  return (
    <li class={disabled ? 'strategy disabled' : 'strategy'}>
      <div class="strategy-head">
        <span class="ordinal">{index + 1}</span>
        <strong>{title || strategyName(name)}</strong>
        {title && <span class="muted">{strategyName(name)}</span>}
        {rollout !== undefined && (
          <span class="rollout-bar">
            <span class="bar-track">
              <span class="bar-fill" style={{ width: `${rollout}%` }} />
            </span>
            {rollout} %
          </span>
        )}
        {disabled && <span class="tag">disabled</span>}
        <span class="stretch" />
        {children}
      </div>
      <ul class="conditions">
        {(strategy.segments ?? []).map((id) => (
          <li key={`segment ${id}`}>
            in segment <Link to={['segments', id]}>{findSegmentName(id) ?? id}</Link>
          </li>
        ))}
        {constraints.map((constraint, position) => (
          <li key={`${constraint.contextName} ${position}`}>
            <ConstraintText constraint={constraint} />
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

function ConstraintText({ constraint }: { readonly constraint: Constraint }) {
  return (
    <>
      <b>{constraint.contextName}</b> {describeCondition(constraint)}
    </>
  );
}
