import { STRATEGIES } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import type { Constraint, Segment, Strategy } from '../api/types.js';
import { conditionsOf, HASHING, rolloutOf, strategyName } from '../model/describe.js';
import { ConstraintRow } from './constraint-row.js';
import { Icon } from './icons.js';

interface StrategyEditorProps {
  readonly strategy: Strategy;
  readonly index: number;
  readonly count: number;
  readonly segments: readonly Segment[];
  readonly onChange: (strategy: Strategy) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

/** Edits one strategy: segments, constraints, rollout and parameters. */
export function StrategyEditor(props: StrategyEditorProps) {
  const { strategy, index, count, segments, onChange, onMove, onRemove } = props;
  const [isOpen, setOpen] = useState(count === 1 || strategy.id === undefined);
  const title = `strategy ${index + 1}`;
  const setParameters = (parameters: Strategy['parameters']) => onChange({ ...strategy, parameters });
  return (
    <li class={strategy.disabled ? 'strategy disabled' : 'strategy'}>
      <div class="strategy-head">
        <span class="ordinal">{index + 1}</span>
        <button type="button" class="link strategy-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {strategy.title || strategyName(strategy.name)}
        </button>
        {!isOpen && <span class="muted summary">{summaryOf(strategy)}</span>}
        <span class="stretch" />
        <button
          type="button"
          class="quiet square"
          aria-label={`Move ${title} up`}
          aria-disabled={index === 0}
          onClick={() => index > 0 && onMove(index - 1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class="quiet square"
          aria-label={`Move ${title} down`}
          aria-disabled={index === count - 1}
          onClick={() => index < count - 1 && onMove(index + 1)}
        >
          <Icon name="down" />
        </button>
        <button type="button" class="quiet square" aria-label={`Remove ${title}`} onClick={onRemove}>
          <Icon name="close" />
        </button>
      </div>
      {isOpen && (
        <div class="strategy-body">
          <Segments strategy={strategy} segments={segments} onChange={onChange} />
          <Constraints
            constraints={strategy.constraints}
            onChange={(constraints) => onChange({ ...strategy, constraints })}
          />
          <Rollout strategy={strategy} title={title} onChange={setParameters} />
          <OtherParameters strategy={strategy} onChange={setParameters} />
          <div class="columns">
            <label class="field">
              Title
              <input
                value={strategy.title ?? ''}
                placeholder={strategyName(strategy.name)}
                onInput={({ currentTarget: { value } }) => {
                  const { title: _title, ...rest } = strategy;
                  onChange(value === '' ? rest : { ...rest, title: value });
                }}
              />
            </label>
            <label class="checkbox">
              <input
                type="checkbox"
                checked={strategy.disabled ?? false}
                onChange={({ currentTarget: { checked } }) => {
                  const { disabled: _disabled, ...rest } = strategy;
                  onChange(checked ? { ...rest, disabled: true } : rest);
                }}
              />
              Skip this strategy
            </label>
          </div>
        </div>
      )}
    </li>
  );
}

function summaryOf(strategy: Strategy): string {
  const rollout = rolloutOf(strategy);
  return [...(rollout === undefined ? [] : [`${rollout} %`]), ...conditionsOf(strategy)].join(', ');
}

interface PartProps {
  readonly strategy: Strategy;
  readonly segments: readonly Segment[];
  readonly onChange: (strategy: Strategy) => void;
}

function Segments({ strategy, segments, onChange }: PartProps) {
  const chosen = strategy.segments ?? [];
  const rest = segments.filter(({ id }) => !chosen.includes(id));
  const set = (ids: readonly number[]) => {
    const { segments: _segments, ...other } = strategy;
    onChange(ids.length === 0 ? other : { ...other, segments: ids });
  };
  if (segments.length === 0 && chosen.length === 0) return null;
  return (
    <div class="chips">
      <span class="part-label">Segments</span>
      {chosen.map((id) => {
        const name = segments.find((segment) => segment.id === id)?.name ?? String(id);
        return (
          <span key={id} class="chip active">
            {name}
            <button
              type="button"
              class="quiet"
              aria-label={`Remove segment ${name}`}
              onClick={() => set(chosen.filter((one) => one !== id))}
            >
              <Icon name="close" />
            </button>
          </span>
        );
      })}
      {rest.length > 0 && (
        <select
          aria-label="Add a segment"
          value=""
          onChange={({ currentTarget }) => {
            if (currentTarget.value !== '') set([...chosen, Number(currentTarget.value)]);
            currentTarget.value = '';
          }}
        >
          <option value="">+ Segment…</option>
          {rest.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

interface ConstraintsProps {
  readonly constraints: readonly Constraint[];
  readonly onChange: (constraints: readonly Constraint[]) => void;
}

/** The constraints, all of which must hold. */
export function Constraints({ constraints, onChange }: ConstraintsProps) {
  return (
    <>
      {constraints.map((constraint, index) => (
        <ConstraintRow
          key={index}
          constraint={constraint}
          number={index + 1}
          onChange={(changed) => onChange(constraints.with(index, changed))}
          onRemove={() => onChange(constraints.toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        onClick={() => onChange([...constraints, { contextName: 'userId', operator: 'IN', values: [] }])}
      >
        <Icon name="plus" /> Constraint
      </button>
    </>
  );
}

interface ParametersProps {
  readonly strategy: Strategy;
  readonly onChange: (parameters: Strategy['parameters']) => void;
}

const STICKINESS = ['default', 'userId', 'sessionId', 'random'];

/** The rollout as a slider and as a number. The type of the parameter stays the same. */
function Rollout({ strategy, title, onChange }: ParametersProps & { readonly title: string }) {
  const { parameters } = strategy;
  const rollout = rolloutOf(strategy);
  if (rollout === undefined) return null;
  const name = parameters?.rollout === undefined ? 'percentage' : 'rollout';
  const set = (text: string) => {
    const value = Math.min(100, Math.max(0, Number(text) || 0));
    onChange({ ...parameters, [name]: typeof parameters?.[name] === 'number' ? value : String(value) });
  };
  const stickiness = String(parameters?.stickiness ?? 'default');
  return (
    <div class="rollout-editor">
      <span class="part-label">Rollout</span>
      <input
        type="range"
        min="0"
        max="100"
        step="1"
        aria-label={`Rollout of ${title}`}
        value={rollout}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <input
        type="number"
        min="0"
        max="100"
        aria-label={`Rollout of ${title} in percent`}
        value={rollout}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <span>%</span>
      {name === 'rollout' && (
        <label>
          sticky by{' '}
          <select
            value={stickiness}
            onChange={({ currentTarget }) => onChange({ ...parameters, stickiness: currentTarget.value })}
          >
            {[...new Set([...STICKINESS, stickiness])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

/** All other parameters, as text. */
function OtherParameters({ strategy, onChange }: ParametersProps) {
  const { name, parameters } = strategy;
  const known = STRATEGIES.get(name)?.parameters ?? [];
  const lists = new Set(known.flatMap((one) => (one.type === 'list' ? one.name : [])));
  const names = new Set([...known.map((one) => one.name), ...Object.keys(parameters ?? {})]);
  const shown = [...names].filter((parameter) => !HASHING.has(parameter));
  return (
    <>
      {shown.map((parameter) => (
        <label key={parameter} class="field">
          {parameter}
          <textarea
            rows={2}
            spellcheck={false}
            placeholder={lists.has(parameter) ? 'Separated by commas' : ''}
            value={String(parameters?.[parameter] ?? '')}
            onInput={({ currentTarget }) => onChange({ ...parameters, [parameter]: currentTarget.value })}
          />
        </label>
      ))}
    </>
  );
}
