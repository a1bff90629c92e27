import { useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { useResource } from '../../api/resource.js';
import type { CreatedToken, Token } from '../../api/types.js';
import { DAY, HOUR } from '../../model/usage-sums.js';
import { Button, Chip, Picker, sameText } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { Dialog, FormDialog } from '../../parts/form/dialog.js';
import { Field, fieldProps, SelectField, TextField } from '../../parts/form/field.js';
import { defaultEnvironment, environmentNames } from '../../state/session.js';
import { time, tokenKind } from '../../words.js';
import { type ExpiryChoice, ExpiryField, expiryOf } from './expiry-field.js';

const KINDS: Readonly<Record<string, string>> = {
  client: 'For servers: reads the flags of one environment.',
  frontend: 'For browsers: reads evaluated flags only. It is public.',
  admin: 'For scripts and people: may change everything.',
};

interface DialogProps {
  readonly onCreated: (token: CreatedToken) => void;
  readonly onClose: () => void;
}

export function CreateTokenDialog({ onCreated, onClose }: DialogProps) {
  const known = useResource('listProjects', {}).data?.projects ?? [];
  const [form, setForm] = useState({ name: '', kind: 'client', environment: defaultEnvironment.value });
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [expiry, setExpiry] = useState<ExpiryChoice>({ lifetime: '90', date: '' });
  const { name, kind, environment } = form;
  const field = fieldProps(form, (change) => setForm({ ...form, ...change }));
  const isAdmin = kind === 'admin';
  const create = async () => {
    const scope = isAdmin ? {} : { projects: projects.length === 0 ? ['*'] : projects, environment };
    const body = { tokenName: name.trim(), type: kind, ...scope, expiresAt: expiryOf(expiry) };
    const { data } = await call('createToken', { body });
    onClose();
    onCreated(data);
  };
  return (
    <FormDialog title="New token" submit="Create token" onSubmit={create} onClose={onClose}>
      <TextField
        label="Name"
        hint="What uses it. The events show the name."
        required
        maxLength={100}
        {...field('name')}
        path={['/tokenName', '/name']}
      />
      <SelectField
        label="Kind"
        hint={KINDS[kind] ?? ''}
        options={Object.keys(KINDS).map((one) => [one, tokenKind(one)])}
        {...field('kind')}
        path="/type"
      />
      {!isAdmin && (
        <>
          <Projects known={known.map(({ id }) => id)} chosen={projects} onChange={setProjects} />
          <SelectField label="Environment" options={sameText(environmentNames.value)} {...field('environment')} />
        </>
      )}
      <ExpiryField choice={expiry} onChange={setExpiry} />
    </FormDialog>
  );
}

interface ProjectsProps {
  readonly known: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (projects: readonly string[]) => void;
}

function Projects({ known, chosen, onChange }: ProjectsProps) {
  const rest = known.filter((id) => !chosen.includes(id));
  return (
    <fieldset class="field">
      <legend>Projects</legend>
      <span class="chips">
        {chosen.length === 0 && <span class="chip active">All projects</span>}
        {chosen.map((id) => (
          <Chip key={id} text={id} onRemove={() => onChange(chosen.filter((one) => one !== id))} />
        ))}
        {rest.length > 0 && (
          <Picker
            label="Only this project"
            text={chosen.length === 0 ? 'Only…' : '+ Project…'}
            options={sameText(rest)}
            onChange={(id) => onChange([...chosen, id])}
          />
        )}
      </span>
    </fieldset>
  );
}

const OVERLAPS: readonly (readonly [label: string, milliseconds: number])[] = [
  ['no longer: it expires at once', 0],
  ['for an hour', HOUR],
  ['for a day', DAY],
  ['for a week', 7 * DAY],
  ['for 30 days', 30 * DAY],
  ['for 90 days', 90 * DAY],
];

/** Replaces a token by one with a new secret. The old secret stays valid for the chosen time. */
export function RotateTokenDialog({ token, onCreated, onClose }: DialogProps & { readonly token: Token }) {
  const [overlap, setOverlap] = useState(DAY);
  const [expiry, setExpiry] = useState<ExpiryChoice>({ lifetime: 'same', date: '' });
  const rotate = async () => {
    const { data } = await call('rotateToken', { body: { id: token.id, overlap, expiresAt: expiryOf(expiry) } });
    onClose();
    onCreated(data);
  };
  return (
    <FormDialog title={`Rotate the token ${token.tokenName}`} submit="Rotate token" onSubmit={rotate} onClose={onClose}>
      <p>Creates a token with a new secret. Name, kind, projects and environment stay.</p>
      <SelectField
        label="The old secret stays valid"
        hint={
          overlap === 0
            ? 'Programs that use it get 401 from then on.'
            : 'Replace the secret in all programs within this time.'
        }
        path="/overlap"
        value={overlap}
        options={OVERLAPS.map(([label, milliseconds]) => [milliseconds, label])}
        onChange={(milliseconds) => setOverlap(Number(milliseconds))}
      />
      <ExpiryField choice={expiry} onChange={setExpiry} hasSame />
    </FormDialog>
  );
}

/** Shows a secret, once. */
export function SecretDialog({ token, onClose }: { readonly token: CreatedToken; readonly onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(token.secret);
      setCopied(true);
    } catch {
      // Without the permission or HTTPS, selects the text, so that the user can copy it by keyboard.
    }
  };
  return (
    <Dialog title={`The secret of ${token.tokenName}`} onClose={onClose}>
      <div class="dialog-body">
        <p>Copy it now. It is not stored, and cannot be shown again.</p>
        <Field label="Secret">
          {(ids) => (
            <span class="secret">
              <input {...ids} ref={field} readOnly spellcheck={false} value={token.secret} />
              <Button onClick={copy}>
                <Icon name={isCopied ? 'check' : 'copy'} /> {isCopied ? 'Copied' : 'Copy'}
              </Button>
            </span>
          )}
        </Field>
        <p class="muted">
          {tokenKind(token.type)} token{token.expiresAt !== null && `, expires ${time(token.expiresAt)}`}
        </p>
      </div>
      <div class="dialog-foot">
        <Button class="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
