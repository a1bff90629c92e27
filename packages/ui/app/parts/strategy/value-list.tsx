import { useState } from 'preact/hooks';
import { rowWindow } from '../../model/window.js';
import { number, shownOf } from '../../words.js';
import { Button, Chip, IconButton } from '../control/controls.js';

interface ValueListProps {
  readonly name: string;
  readonly values: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}

/** Up to this number, values are chips; above it, a scrollable list. */
const CHIPS = 30;
/** The maximum number of values in the API. */
const MAX_VALUES = 50_000;

/** The values of a constraint. Pasted lists are split at commas and line breaks. */
export function ValueList({ name, values, onChange }: ValueListProps) {
  const [text, setText] = useState('');
  const add = (input: string) => {
    const added = input
      .split(/[\n,;\t]/)
      .map((value) => value.trim())
      .filter(Boolean);
    setText('');
    if (added.length > 0) onChange([...new Set([...values, ...added])]);
  };
  const remove = (value: string) => onChange(values.filter((one) => one !== value));
  return (
    <div class="values">
      {values.length > CHIPS ? (
        <LongList name={name} values={values} onRemove={remove} onClear={() => onChange([])} />
      ) : (
        values.map((value) => <Chip key={value} class="chip" text={value} onRemove={() => remove(value)} />)
      )}
      <input
        aria-label={`${name}: add a value`}
        placeholder={values.length === 0 ? 'Value, or paste a list' : 'Add…'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || (event.key === ',' && text.trim() !== '')) {
            event.preventDefault();
            add(text);
          }
          if (event.key === 'Backspace' && text === '' && values.length > 0) onChange(values.slice(0, -1));
        }}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? '';
          if (!/[\n,;\t]/.test(pasted)) return;
          event.preventDefault();
          add(text + pasted);
        }}
        onBlur={() => add(text)}
      />
    </div>
  );
}

interface LongListProps {
  readonly name: string;
  readonly values: readonly string[];
  /** Absent: the values are read-only. */
  readonly onRemove?: (value: string) => void;
  readonly onClear?: () => void;
}

const ROW_HEIGHT = 30;
const HEIGHT = 210;

/** Renders only the visible values, because there may be tens of thousands. */
export function LongList({ name, values, onRemove, onClear }: LongListProps) {
  const [search, setSearch] = useState('');
  const [scrolled, setScrolled] = useState(0);
  const shown = search === '' ? values : values.filter((value) => value.includes(search));
  const { first, end } = rowWindow(scrolled, HEIGHT, ROW_HEIGHT, shown.length);
  return (
    <div class="long-list">
      <div class="long-list-head">
        <input
          aria-label={`${name}: search the values`}
          placeholder="Search the values"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <span class="muted" role="status">
          {shownOf(shown.length, values.length, 'value')}
        </span>
        {onClear && (
          <Button class="quiet" onClick={onClear}>
            Remove all
          </Button>
        )}
      </div>
      {values.length > MAX_VALUES && (
        <p class="fault-text">A constraint has at most {number(MAX_VALUES)} values. Remove some of them.</p>
      )}
      <section
        class="long-list-rows"
        aria-label={`${name}: values`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
      >
        <div style={{ height: `${first * ROW_HEIGHT}px` }} />
        {shown.slice(first, end).map((value) => (
          <div key={value} class="long-list-row">
            <span>{value}</span>
            {onRemove && (
              <IconButton icon="close" class="quiet" label={`Remove ${value}`} onClick={() => onRemove(value)} />
            )}
          </div>
        ))}
        <div style={{ height: `${(shown.length - end) * ROW_HEIGHT}px` }} />
      </section>
    </div>
  );
}
