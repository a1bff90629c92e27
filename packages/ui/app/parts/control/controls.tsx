import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { href } from '../../router.js';
import { useAction } from '../../state/page-actions.js';
import { may } from '../../state/session.js';
import { Icon, type IconName } from './icons.js';

/* Every control declares its action for the palette, in the words of its label. */

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
  /** The accessible name, if the text of the button is not enough. */
  readonly label?: string | undefined;
  /** The words of the palette, if they are not the label. */
  readonly action?: string;
  readonly type?: 'button' | 'submit';
  /** Whether the action of the button is still running. */
  readonly isBusy?: boolean;
  /** The actions of `authorize` that the button needs, in a project. */
  readonly needs?: readonly string[];
  readonly project?: string;
  /** Why the button is disabled although the caller has the permission. */
  readonly blocked?: string | undefined;
  readonly expanded?: boolean;
  readonly onClick?: (() => unknown) | undefined;
}

/** A button. Without its permission it is disabled, stays focusable, and says why. */
export function Button({ children, label, type = 'button', isBusy = false, needs = [], ...props }: ButtonProps) {
  const { action = label ?? wordsIn(children), project = '', blocked, expanded, onClick } = props;
  const missing = needs.find((name) => !may(name, project));
  const reason = missing === undefined ? blocked : `Needs the permission ${missing}`;
  const isDisabled = reason !== undefined || isBusy;
  return (
    <button
      ref={useAction<HTMLButtonElement>(isDisabled ? undefined : action)}
      type={type}
      class={props.class}
      aria-label={label}
      aria-disabled={isDisabled}
      aria-busy={isBusy}
      aria-expanded={expanded}
      title={reason || undefined}
      onClick={(event) => {
        if (isDisabled) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}

/** The text of children, without icons and other elements. */
function wordsIn(children: ComponentChildren): string {
  const texts = [children].flat().filter((child) => typeof child === 'string' || typeof child === 'number');
  return texts.join('').trim();
}

interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  readonly icon: IconName;
  readonly label: string;
}

export function IconButton({ icon, ...button }: IconButtonProps) {
  return (
    <Button class="quiet square" {...button}>
      <Icon name={icon} />
    </Button>
  );
}

interface DialogButtonProps extends ButtonProps {
  /** Whether the dialog is open at first. */
  readonly isOpen?: boolean;
  readonly dialog: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, isOpen: isOpenFirst = false, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

interface LinkProps {
  /** The segments of the address. */
  readonly to: readonly (string | number)[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly label?: string;
  readonly title?: string;
  /** The words of the palette, if they are not "Go to" the text. Empty: the palette does not list the link. */
  readonly action?: string;
  readonly isCurrent?: boolean;
  readonly isDisabled?: boolean;
  readonly onClick?: () => void;
}

/** A link to another screen. */
export function Link({ to, query, children, label, isCurrent = false, isDisabled, ...props }: LinkProps) {
  const words = wordsIn(children);
  const { action = label ?? (words && `Go to ${words}`), ...attributes } = props;
  return (
    <a
      {...attributes}
      ref={useAction<HTMLAnchorElement>(isDisabled ? undefined : action)}
      href={href(to, query)}
      aria-label={label}
      aria-current={isCurrent ? 'page' : undefined}
      aria-disabled={isDisabled}
    >
      {children}
    </a>
  );
}

interface CheckboxProps {
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly class?: string;
  readonly children: string;
}

/** A checkbox with its text. */
export function Checkbox({ isChecked, onChange, children, ...props }: CheckboxProps) {
  return (
    <label class={`checkbox ${props.class ?? ''}`}>
      <input
        ref={useAction<HTMLInputElement>(`${isChecked ? 'Untick' : 'Tick'} “${children}”`)}
        type="checkbox"
        checked={isChecked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {children}
    </label>
  );
}

/** The values of a select, each with its text. */
export type Options = readonly (readonly [value: string | number, text: string])[];

/** Returns options whose text is their value. */
export function sameText(values: readonly string[]): Options {
  return values.map((value) => [value, value]);
}

interface SelectProps {
  /** The accessible name, if no `label` element names the select. */
  readonly label?: string;
  readonly id?: string;
  readonly 'aria-describedby'?: string;
  readonly class?: string;
  readonly value: string | number;
  readonly options: Options;
  readonly onChange: (value: string) => void;
}

/** One of several values. */
export function Select({ label, value, options, onChange, ...attributes }: SelectProps) {
  return (
    <select
      ref={useAction<HTMLSelectElement>(label && `Set ${label}`, true)}
      aria-label={label}
      {...attributes}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface PickerProps extends Omit<SelectProps, 'value' | 'label'> {
  readonly label: string;
  /** The text while nothing is picked. */
  readonly text: string;
}

/** A select that runs `onChange` for each picked value, and keeps none. */
export function Picker({ text, options, onChange, ...select }: PickerProps) {
  return (
    <Select {...select} value="" options={[['', text], ...options]} onChange={(value) => value && onChange(value)} />
  );
}

interface ChipProps {
  readonly text: string;
  /** The accessible name of its button. */
  readonly label?: string;
  readonly class?: string;
  readonly onRemove: () => void;
}

/** A chosen value, with a button that removes it. */
export function Chip({ text, label = `Remove ${text}`, onRemove, ...props }: ChipProps) {
  return (
    <span class={props.class ?? 'chip active'}>
      {text}
      <IconButton icon="close" class="quiet" label={label} onClick={onRemove} />
    </span>
  );
}

interface SegmentedProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly onChange: (value: Value) => void;
}

/** One of a few values, all of them visible. */
export function Segmented<Value extends string>({ legend, name, value, options, onChange }: SegmentedProps<Value>) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{legend}</legend>
      {options.map(([one, text]) => (
        <label key={one}>
          <input type="radio" name={name} checked={one === value} onChange={() => onChange(one)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

interface DetailsProps {
  readonly summary: string;
  readonly class?: string;
  readonly children: () => ComponentChildren;
}

/** Content that unfolds. Rendered when it is open. */
export function Details({ summary, children, ...props }: DetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class={props.class} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary ref={useAction(`Show ${summary}`)}>{summary}</summary>
      {isOpen && children()}
    </details>
  );
}

interface PagedProps<Item> {
  readonly items: readonly Item[];
  /** The number of items at first, and of those that each press of the button adds. */
  readonly page: number;
  readonly children: (shown: readonly Item[]) => ComponentChildren;
}

/** The first items of a list, with a button that shows more of them. */
export function Paged<Item>({ items, page, children }: PagedProps<Item>) {
  const [count, setCount] = useState(page);
  return (
    <>
      {children(items.slice(0, count))}
      {items.length > count && <Button onClick={() => setCount(count + page)}>Show more</Button>}
    </>
  );
}

/** Text of which all lines matter. It scrolls, so it is reachable by keyboard. */
export function Code({ children }: { readonly children: string }) {
  return (
    <pre>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
      <code tabIndex={0}>{children}</code>
    </pre>
  );
}
