import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiError, Issue } from '../api/call.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** What is wrong with the value. */
  readonly fault?: string | undefined;
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby'?: string }) => ComponentChildren;
}

/** A field of a form with its label, a hint, and the refusal of the server. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const describedBy = fault !== undefined || hint !== undefined ? `${id}-hint` : undefined;
  return (
    <div class={fault === undefined ? 'field' : 'field faulty'}>
      <label for={id}>{label}</label>
      {children({ id, ...(describedBy && { 'aria-describedby': describedBy }) })}
      {describedBy && (
        <p
          id={describedBy}
          class={fault === undefined ? 'hint' : 'hint fault-text'}
          role={fault === undefined ? undefined : 'alert'}
        >
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}

interface ReasonFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Why somebody changes something. */
export function ReasonField({ value, onChange }: ReasonFieldProps) {
  return (
    <Field label="Reason" hint="Shown in the history.">
      {(ids) => (
        <input
          {...ids}
          maxLength={1_000}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

const shownAtFields = new WeakSet<Issue>();

/** Returns what a refusal says about the place that ends with a path: `faultAt(error, '/input/name')`. The field shows it. */
export function faultAt(error: ApiError | undefined, path: string): string | undefined {
  // A name that is taken is refused without its place.
  const isTaken = path === '/name' && error?.code.endsWith('_exists');
  const issue = error?.details.find((one) => isTaken || one.path?.endsWith(path));
  if (issue) shownAtFields.add(issue);
  return issue?.message;
}

/** Whether a field shows the issue, so that the form does not repeat it. */
export function hasField(issue: Issue): boolean {
  return shownAtFields.has(issue);
}
