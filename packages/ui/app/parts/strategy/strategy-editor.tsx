import { describeConditions, HASHING, STRATEGIES, strategyTitle } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import type { Constraint, Strategy } from '../../api/types.js';
import { findSegmentName, rolloutOf, segmentName } from '../../model/describe.js';
import { segments } from '../../state/segments.js';
import { Button, Checkbox, Chip, IconButton, Picker, Select, sameText } from '../control/controls.js';
import { Icon } from '../control/icons.js';
import { AreaField, TextField } from '../form/field.js';
import { ConstraintRow } from './constraint-row.js';

interface StrategyEditorProps {
  readonly strategy: Strategy;
  readonly index: number;
  readonly count: number;
  readonly onChange: (strategy: Strategy) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

/** Edits one strategy: segments, constraints, rollout and parameters. */
export function StrategyEditor(props: StrategyEditorProps) {
  const { strategy, index, count, onChange, onMove, onRemove } = props;
  const [isOpen, setOpen] = useState(count === 1 || strategy.id === undefined);
  const title = `strategy ${index + 1}`;
  const setParameters = (parameters: Strategy['parameters']) => onChange({ ...strategy, parameters });
  return (
    <li class={strategy.disabled ? 'strategy disabled' : 'strategy'}>
      <div class="strategy-head">
        <span class="ordinal">{index + 1}</span>
        <Button class="link strategy-toggle" expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {strategy.title || strategyTitle(strategy, findSegmentName)}
        </Button>
        {!isOpen && <span class="muted summary">{summaryOf(strategy)}</span>}
        <span class="stretch" />
        <IconButton
          icon="up"
          label={`Move ${title} up`}
          blocked={index === 0 ? 'It is the first one.' : undefined}
          onClick={() => onMove(index - 1)}
        />
        <IconButton
          icon="down"
          label={`Move ${title} down`}
          blocked={index === count - 1 ? 'It is the last one.' : undefined}
          onClick={() => onMove(index + 1)}
        />
        <IconButton icon="close" label={`Remove ${title}`} onClick={onRemove} />
      </div>
      {isOpen && (
        <div class="strategy-body">
          <Segments strategy={strategy} onChange={onChange} />
          <Constraints
            constraints={strategy.constraints}
            onChange={(constraints) => onChange({ ...strategy, constraints })}
          />
          <Rollout strategy={strategy} title={title} onChange={setParameters} />
          <OtherParameters strategy={strategy} onChange={setParameters} />
          <div class="columns">
            <TextField
              label="Title"
              value={strategy.title ?? ''}
              placeholder={strategyTitle(strategy, findSegmentName)}
              onChange={(value) => {
                const { title: _title, ...rest } = strategy;
                onChange(value === '' ? rest : { ...rest, title: value });
              }}
            />
            <Checkbox
              isChecked={strategy.disabled ?? false}
              onChange={(disabled) => {
                const { disabled: _disabled, ...rest } = strategy;
                onChange(disabled ? { ...rest, disabled } : rest);
              }}
            >
              Skip this strategy
            </Checkbox>
          </div>
        </div>
      )}
    </li>
  );
}

function summaryOf(strategy: Strategy): string {
  const rollout = rolloutOf(strategy);
  return [...(rollout === undefined ? [] : [`${rollout} %`]), ...describeConditions(strategy, findSegmentName)].join(
    ', ',
  );
}

function Segments({ strategy, onChange }: Pick<StrategyEditorProps, 'strategy' | 'onChange'>) {
  const chosen = strategy.segments ?? [];
  const rest = segments.value.filter(({ id }) => !chosen.includes(id));
  const set = (ids: readonly number[]) => {
    const { segments: _segments, ...other } = strategy;
    onChange(ids.length === 0 ? other : { ...other, segments: ids });
  };
  if (rest.length === 0 && chosen.length === 0) return null;
  return (
    <div class="chips">
      <span class="part-label">Segments</span>
      {chosen.map((id) => {
        const name = segmentName(id);
        const remove = () => set(chosen.filter((one) => one !== id));
        return <Chip key={id} text={name} label={`Remove segment ${name}`} onRemove={remove} />;
      })}
      {rest.length > 0 && (
        <Picker
          label="Add a segment"
          text="+ Segment…"
          options={rest.map(({ id, name }) => [id, name])}
          onChange={(id) => set([...chosen, Number(id)])}
        />
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
      <Button
        action="Add a constraint"
        onClick={() => onChange([...constraints, { contextName: 'userId', operator: 'IN', values: [] }])}
      >
        <Icon name="plus" /> Constraint
      </Button>
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
      <span>
        <input
          type="number"
          min="0"
          max="100"
          aria-label={`Rollout of ${title} in percent`}
          value={rollout}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
        {' %'}
      </span>
      {name === 'rollout' && (
        <label>
          sticky by{' '}
          <Select
            value={stickiness}
            options={sameText([...new Set([...STICKINESS, stickiness])])}
            onChange={(value) => onChange({ ...parameters, stickiness: value })}
          />
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
        <AreaField
          key={parameter}
          label={parameter}
          hint={lists.has(parameter) ? 'Separated by commas' : undefined}
          value={String(parameters?.[parameter] ?? '')}
          onChange={(value) => onChange({ ...parameters, [parameter]: value })}
        />
      ))}
    </>
  );
}
