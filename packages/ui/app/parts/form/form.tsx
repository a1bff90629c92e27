import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/call.js';
import { Fault } from '../frame/states.js';
import { FormContext, isAt } from './field.js';

interface FormProps {
  readonly class?: string;
  readonly bodyClass?: string;
  /** Sends the form. Rejects with the refusal. */
  readonly onSubmit: () => unknown;
  /** The row below the form, with its buttons. */
  readonly foot: (isBusy: boolean) => ComponentChildren;
  readonly children: ComponentChildren;
}

/** A form that sends one request at a time. Fields show their own issues; the form shows the rest of a refusal. */
export function Form({ onSubmit, foot, children, bodyClass, ...form }: FormProps) {
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const [paths] = useState(() => new Set<string>());
  const isAtFields = error?.details.every((issue) => [...paths].some((path) => isAt(path, issue, error)));
  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await onSubmit();
      setError(undefined);
    } catch (refusal) {
      setError(refusal as ApiError);
    }
    setBusy(false);
  };
  return (
    <FormContext.Provider value={{ error, paths }}>
      <form
        {...form}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class={bodyClass}>
          {children}
          {error && (error.details.length === 0 || !isAtFields) && <Fault error={error} />}
        </div>
        {foot(isBusy)}
      </form>
    </FormContext.Provider>
  );
}
