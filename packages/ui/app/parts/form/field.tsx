import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId } from 'preact/hooks';
import type { ApiError, Issue } from '../../api/call.js';
import { type Options, Select } from '../control/controls.js';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The end of the JSON Pointer of the field in a refusal: `/name`. */
  readonly path?: string | readonly string[] | undefined;
  /** Why the value is invalid, if the refusal of the form does not say it. */
  readonly fault?: string | undefined;
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby'?: string }) => ComponentChildren;
}

interface FormState {
  readonly error: ApiError | undefined;
  /** The paths of the fields. The form does not repeat their issues. */
  readonly paths: Set<string>;
}

/** The refusal of a form, for its fields. */
export const FormContext = createContext<FormState>({ error: undefined, paths: new Set() });

/** Whether an issue concerns the field with a path. The refusal of a taken name has no JSON Pointer. */
export function isAt(path: string, { path: pointer }: Issue, { code }: ApiError): boolean {
  return pointer?.endsWith(path) || (path === '/name' && code.endsWith('_exists'));
}

/** A field of a form with its label, a hint, and the refusal of the server. */
export function Field({ label, hint, path, children, ...props }: FieldProps) {
  const id = useId();
  const { error, paths } = useContext(FormContext);
  const own = [path ?? []].flat();
  useEffect(() => {
    for (const one of own) paths.add(one);
    return () => {
      for (const one of own) paths.delete(one);
    };
  }, [own.join()]);
  const issue = error?.details.find((detail) => own.some((one) => isAt(one, detail, error)));
  const fault = props.fault ?? issue?.message;
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

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly type?: 'text' | 'date' | 'number' | 'search';
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly maxLength?: number;
  readonly spellcheck?: boolean;
  readonly inputMode?: 'numeric';
  readonly placeholder?: string;
  /** The id of a list of suggestions. */
  readonly list?: string;
  readonly value: string | number;
  readonly onChange: (value: string) => void;
}

/** A field for one line of text. */
export function TextField({ label, hint, path, fault, type = 'text', onChange, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} path={path} fault={fault}>
      {(ids) => (
        <input
          {...ids}
          type={type}
          autocomplete="off"
          {...input}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface AreaFieldProps extends Omit<FieldProps, 'children'> {
  readonly rows?: number;
  /** `prose` is in the font of the page, and grows. */
  readonly class?: 'prose';
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field for some lines of text. */
export function AreaField({ rows = 2, value, onChange, ...field }: AreaFieldProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <textarea
          {...ids}
          class={field.class}
          rows={rows}
          spellcheck={field.class === 'prose'}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SelectFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string | number;
  readonly options: Options;
  readonly onChange: (value: string) => void;
}

/** A field for one of several values. */
export function SelectField({ value, options, onChange, ...field }: SelectFieldProps) {
  return <Field {...field}>{(ids) => <Select {...ids} value={value} options={options} onChange={onChange} />}</Field>;
}

const REASON_HINTS = {
  change: 'Shown in the history.',
  request: 'For those who decide on it, and for the history.',
  rejection: 'Shown in the history.',
  bypass: 'Why it does not wait for approval. Shown in the history.',
} as const;

interface ReasonFieldProps extends Pick<TextFieldProps, 'value' | 'onChange'> {
  /** What the reason is for. Those of a rejection and of a bypass are required. */
  readonly use?: keyof typeof REASON_HINTS;
}

/** A field for the reason of a change. */
export function ReasonField({ use = 'change', ...field }: ReasonFieldProps) {
  return (
    <TextField
      label="Reason"
      hint={REASON_HINTS[use]}
      path="/reason"
      maxLength={1_000}
      required={use === 'bypass' || use === 'rejection'}
      {...field}
    />
  );
}

/** Returns the properties of the field for each member of a form's values. */
export function fieldProps<Values>(values: Values, onChange: (change: Partial<Values>) => void) {
  return <Name extends keyof Values & string>(name: Name) => ({
    path: `/${name}`,
    value: values[name],
    onChange: (value: Values[Name] | string) => onChange({ [name]: value } as Partial<Values>),
  });
}
