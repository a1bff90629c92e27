import { useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { invalidate, useResource } from '../api/resource.js';
import type { CreatedToken, Token } from '../api/types.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { Confirm } from '../parts/dialog.js';
import { Icon } from '../parts/icons.js';
import { ListScreen } from '../parts/list-screen.js';
import { CreateTokenDialog, RotateTokenDialog, SecretDialog } from '../parts/token-dialogs.js';
import { currentProject } from '../router.js';
import { useProjectNames } from '../state/projects.js';
import { showToast } from '../state/toasts.js';
import { ago, time, tokenKind } from '../words.js';

/** The API tokens of the instance. A secret is shown once, when its token is created. */
export function TokensScreen() {
  const { data, error } = useResource('listTokens', {});
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedToken>();
  const show = (token: CreatedToken) => {
    setCreated(token);
    invalidate('listTokens');
  };
  return (
    <>
      <ListScreen
        title="API tokens"
        noun="token"
        items={data?.tokens}
        error={error}
        textOf={({ tokenName, type }) => `${tokenName} ${type}`}
        columns={['Name', 'Kind', 'Projects', 'Environment', 'Created', 'Expires', 'Last used']}
        hasActions
        tableClass="tokens"
        row={(token) => <TokenRow key={token.id} token={token} onCreated={show} />}
        empty={{
          title: 'No tokens yet',
          text: 'Applications use client tokens, browsers use frontend tokens, and scripts use admin tokens.',
        }}
        create={
          <AllowedButton
            class="primary"
            needs={['createToken']}
            project={currentProject()}
            onClick={() => setCreating(true)}
          >
            <Icon name="plus" /> New token
          </AllowedButton>
        }
      />
      {isCreating && <CreateTokenDialog onCreated={show} onClose={() => setCreating(false)} />}
      {created && <SecretDialog token={created} onClose={() => setCreated(undefined)} />}
    </>
  );
}

interface TokenRowProps {
  readonly token: Token;
  readonly onCreated: (token: CreatedToken) => void;
}

function TokenRow({ token, onCreated }: TokenRowProps) {
  const { id, tokenName, type, projects, environment, createdAt, expiresAt, lastUsedAt } = token;
  const [open, setOpen] = useState<'rotate' | 'delete'>();
  const projectName = useProjectNames();
  const close = () => setOpen(undefined);
  const isExpired = expiresAt !== null && new Date(expiresAt).getTime() <= Date.now();
  const remove = async () => {
    try {
      await call('deleteToken', { params: { token: id } });
      showToast({ tone: 'done', text: `The token ${tokenName} was deleted.` });
    } catch (error) {
      showToast({ tone: 'fault', text: (error as Error).message });
    }
    invalidate('listTokens');
  };
  return (
    <tr class={isExpired ? 'expired' : ''}>
      <th scope="row">{tokenName}</th>
      <td>
        <span class={type === 'admin' ? 'tag warning' : 'tag'}>{tokenKind(type)}</span>
      </td>
      <td class="names" data-label="Projects">
        {projects.includes('*') ? <span class="muted">all</span> : projects.map(projectName).join(', ')}
      </td>
      <td data-label="Environment">{environment === '*' ? <span class="muted">all</span> : environment}</td>
      <td data-label="Created">
        <Time at={createdAt} />
      </td>
      <td data-label="Expires">
        <Expiry expiresAt={expiresAt} />
      </td>
      <td data-label="Used">{lastUsedAt === null ? <span class="muted">never</span> : <Time at={lastUsedAt} />}</td>
      <td class="row-actions">
        <AllowedButton
          class="quiet"
          needs={['rotateToken']}
          project={currentProject()}
          label={`Rotate ${tokenName}`}
          onClick={() => setOpen('rotate')}
        >
          Rotate…
        </AllowedButton>
        <AllowedButton
          class="quiet"
          needs={['deleteToken']}
          project={currentProject()}
          label={`Delete ${tokenName}`}
          onClick={() => setOpen('delete')}
        >
          Delete…
        </AllowedButton>
        {open === 'rotate' && <RotateTokenDialog token={token} onCreated={onCreated} onClose={close} />}
        {open === 'delete' && (
          <Confirm
            title={`Delete the token ${tokenName}?`}
            text="Whoever uses it is refused from that moment. This cannot be undone. To replace a token without a gap, rotate it."
            confirm={`Confirm: delete ${tokenName}`}
            onConfirm={remove}
            onClose={close}
          />
        )}
      </td>
    </tr>
  );
}

/** A token that expires within this time is marked. */
const SOON = 14 * 86_400_000;

function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={time(at)}>
      {ago(at)}
    </time>
  );
}

function Expiry({ expiresAt }: { readonly expiresAt: string | null }) {
  if (expiresAt === null) return <span class="muted">never</span>;
  const left = new Date(expiresAt).getTime() - Date.now();
  return (
    <time dateTime={expiresAt} title={time(expiresAt)} class={left <= SOON ? 'tag warning' : ''}>
      {left <= 0 ? `expired ${ago(expiresAt)}` : ago(expiresAt)}
    </time>
  );
}
