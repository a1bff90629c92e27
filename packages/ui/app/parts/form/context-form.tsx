import { useState } from 'preact/hooks';
import type { Context } from '../../api/types.js';
import { contextFromText, fieldsOf } from '../../state/view-as.js';
import { AreaField, fieldProps, TextField } from './field.js';

/** An evaluation context in a form. */
export interface ContextDraft {
  readonly userId: string;
  /** One field per line: `country=DE`. */
  readonly others: string;
}

export function draftOfContext(context: Context = {}): ContextDraft {
  const others = fieldsOf(context).filter(([name]) => name !== 'userId');
  return { userId: context.userId ?? '', others: others.map((field) => field.join('=')).join('\n') };
}

/** Returns the fields of a context, and a function that submits them. */
export function useContextForm(context: Context | undefined) {
  const [draft, setDraft] = useState(() => draftOfContext(context));
  const [fault, setFault] = useState<string>();
  /** Calls `use` with the context; undefined if it is empty. Shows a line that is not a field as a fault. */
  const submit = (use: (context: Context | undefined) => void) => {
    const lines = draft.others.split('\n').filter((line) => line.trim() !== '');
    const broken = lines.find((line) => !/^\s*[^=\s][^=]*=/.test(line));
    setFault(broken && `“${broken.trim().slice(0, 60)}” is not a field: write name=value.`);
    if (broken !== undefined) return;
    const text = new URLSearchParams({ userId: draft.userId });
    for (const line of lines) {
      const [name = '', ...value] = line.split('=');
      text.set(name.trim(), value.join('=').trim());
    }
    use(contextFromText(text.toString()));
  };
  const field = fieldProps(draft, (change) => setDraft({ ...draft, ...change }));
  const userField = <TextField label="User ID" {...field('userId')} />;
  const otherFields = (
    <AreaField
      label="Other fields"
      hint="One per line: country=DE, sessionId=…, remoteAddress=…, currentTime=2026-01-01T00:00:00Z"
      fault={fault}
      rows={3}
      {...field('others')}
    />
  );
  return { setDraft, submit, userField, otherFields };
}
