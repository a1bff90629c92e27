import { useRef, useState } from 'preact/hooks';
import { type ApiError, call } from '../api/call.js';
import { useResource } from '../api/resource.js';
import type { CreatedToken, Token } from '../api/types.js';
import { defaultEnvironment, environments } from '../state/session.js';
import { time, tokenKind } from '../words.js';
import { Dialog, FormDialog } from './dialog.js';
import { type ExpiryChoice, ExpiryField, expiryOf } from './expiry-field.js';
import { Field, faultAt } from './field.js';
import { Icon } from './icons.js';

const KINDS: Readonly<Record<string, string>> = {
  client: 'For servers: reads the flags of one environment.',
  frontend: 'For browsers: gets answers only. It is public.',
  admin: 'For scripts and people: may change everything.',
};

const DAY = 86_400_000;

interface DialogProps {
  readonly onCreated: (token: CreatedToken) => void;
  readonly onClose: () => void;
}

export function CreateTokenDialog({ onCreated, onClose }: DialogProps) {
  const known = useResource('listProjects', {}).data?.projects ?? [];
  const [name, setName] = useState('');
  const [kind, setKind] = useState('client');
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [environment, setEnvironment] = useState(defaultEnvironment.value);
  const [expiry, setExpiry] = useState<ExpiryChoice>({ lifetime: '90', date: '' });
  const { error, isSending, send } = useSending(onCreated, onClose);
  const isAdmin = kind === 'admin';
  const create = () =>
    send(() =>
      call('createToken', {
        body: {
          tokenName: name.trim(),
          type: kind,
          ...(!isAdmin && { projects: projects.length === 0 ? ['*'] : projects, environment }),
          expiresAt: expiryOf(expiry),
        },
      }),
    );
  return (
    <FormDialog
      title="New token"
      submit={isSending ? 'Creating…' : 'Create token'}
      error={error}
      onSubmit={create}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="What uses it. The events show the name."
        fault={faultAt(error, '/tokenName') ?? faultAt(error, '/name')}
      >
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={100}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Kind" hint={KINDS[kind] ?? ''} fault={faultAt(error, '/type')}>
        {(ids) => (
          <select {...ids} value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value)}>
            {Object.keys(KINDS).map((one) => (
              <option key={one} value={one}>
                {tokenKind(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {!isAdmin && (
        <>
          <Projects known={known.map(({ id }) => id)} chosen={projects} onChange={setProjects} />
          <Field label="Environment" fault={faultAt(error, '/environment')}>
            {(ids) => (
              <select
                {...ids}
                value={environment}
                onChange={({ currentTarget }) => setEnvironment(currentTarget.value)}
              >
                {environments.value.map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
      <ExpiryField choice={expiry} onChange={setExpiry} fault={faultAt(error, '/expiresAt')} />
    </FormDialog>
  );
}

/** Sends a request whose reply has a secret. */
function useSending(onCreated: (token: CreatedToken) => void, onClose: () => void) {
  const [error, setError] = useState<ApiError>();
  const [isSending, setSending] = useState(false);
  const send = async (request: () => Promise<{ readonly data: CreatedToken }>) => {
    if (isSending) return;
    setSending(true);
    try {
      const { data } = await request();
      onClose();
      onCreated(data);
    } catch (refusal) {
      setSending(false);
      setError(refusal as ApiError);
    }
  };
  return { error, isSending, send };
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
          <span key={id} class="chip active">
            {id}
            <button
              type="button"
              class="quiet"
              aria-label={`Remove ${id}`}
              onClick={() => onChange(chosen.filter((one) => one !== id))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        {rest.length > 0 && (
          <select
            aria-label="Only this project"
            value=""
            onChange={({ currentTarget }) => {
              if (currentTarget.value !== '') onChange([...chosen, currentTarget.value]);
              currentTarget.value = '';
            }}
          >
            <option value="">{chosen.length === 0 ? 'Only…' : '+ Project…'}</option>
            {rest.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        )}
      </span>
    </fieldset>
  );
}

const OVERLAPS: readonly (readonly [label: string, milliseconds: number])[] = [
  ['no longer: it ends at once', 0],
  ['for an hour', DAY / 24],
  ['for a day', DAY],
  ['for a week', 7 * DAY],
  ['for 30 days', 30 * DAY],
  ['for 90 days', 90 * DAY],
];

/** Replaces a token by one with a new secret. Both are valid for a while. */
export function RotateTokenDialog({ token, onCreated, onClose }: DialogProps & { readonly token: Token }) {
  const [overlap, setOverlap] = useState(DAY);
  const [expiry, setExpiry] = useState<ExpiryChoice>({ lifetime: 'same', date: '' });
  const { error, isSending, send } = useSending(onCreated, onClose);
  const rotate = () =>
    send(() => call('rotateToken', { body: { id: token.id, overlap, expiresAt: expiryOf(expiry) } }));
  return (
    <FormDialog
      title={`Rotate the token ${token.tokenName}`}
      submit={isSending ? 'Rotating…' : 'Rotate token'}
      error={error}
      onSubmit={rotate}
      onClose={onClose}
    >
      <p>Creates a token with a new secret. Name, kind, projects and environment stay.</p>
      <Field
        label="The old secret stays valid"
        hint={
          overlap === 0
            ? 'Whoever uses it is refused from that moment.'
            : 'Change the secret where it is used within this time.'
        }
        fault={faultAt(error, '/overlap')}
      >
        {(ids) => (
          <select {...ids} value={overlap} onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}>
            {OVERLAPS.map(([label, milliseconds]) => (
              <option key={milliseconds} value={milliseconds}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <ExpiryField choice={expiry} onChange={setExpiry} fault={faultAt(error, '/expiresAt')} hasSame />
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
      // Without the permission, or without HTTPS: the text is selected, so that the keyboard copies it.
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
              <button type="button" onClick={copy}>
                <Icon name={isCopied ? 'check' : 'copy'} /> {isCopied ? 'Copied' : 'Copy'}
              </button>
            </span>
          )}
        </Field>
        <p class="muted">
          {tokenKind(token.type)} token{token.expiresAt !== null && `, expires ${time(token.expiresAt)}`}
        </p>
      </div>
      <div class="dialog-foot">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
