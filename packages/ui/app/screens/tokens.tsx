import { useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { invalidate, useResource } from '../api/resource.js';
import type { CreatedToken, Token } from '../api/types.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { Confirm } from '../parts/dialog.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { currentProject } from '../parts/layout.js';
import { SearchBox } from '../parts/search-box.js';
import { Empty, Fault, Loading } from '../parts/states.js';
import { CreateTokenDialog, RotateTokenDialog, SecretDialog } from '../parts/token-dialogs.js';
import { query } from '../router.js';
import { showToast } from '../state/toasts.js';
import { ago, plural, time, tokenKind } from '../words.js';

/** The API tokens of the instance. A secret is shown once, when its token is created. */
export function TokensScreen() {
  const { data, error } = useResource('listTokens', {});
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedToken>();
  const search = (query.value.get('q') ?? '').toLowerCase();
  const all = data?.tokens ?? [];
  const found = all.filter(({ tokenName, type }) => `${tokenName} ${type}`.toLowerCase().includes(search));
  const show = (token: CreatedToken) => {
    setCreated(token);
    invalidate((action) => action === 'listTokens');
  };
  const create = (
    <AllowedButton class="primary" needs={['createToken']} project={currentProject()} onClick={() => setCreating(true)}>
      <Icon name="plus" /> New token
    </AllowedButton>
  );
  return (
    <section>
      <div class="screen-head">
        <Heading title="API tokens" />
        <span class="stretch" />
        {all.length > 0 && create}
      </div>
      {error && <Fault error={error} />}
      {!data && !error && <Loading />}
      {data && all.length === 0 && (
        <Empty title="No tokens yet">
          <p>Applications use client tokens, browsers use frontend tokens, and scripts use admin tokens.</p>
          {create}
        </Empty>
      )}
      {all.length > 0 && (
        <>
          <SearchBox label="Filter tokens" />
          <p class="count" role="status">
            {search === '' ? plural(all.length, 'token') : `${found.length} of ${plural(all.length, 'token')}`}
          </p>
          <TokenTable tokens={found} onCreated={show} />
        </>
      )}
      {isCreating && <CreateTokenDialog onCreated={show} onClose={() => setCreating(false)} />}
      {created && <SecretDialog token={created} onClose={() => setCreated(undefined)} />}
    </section>
  );
}

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly onCreated: (token: CreatedToken) => void;
}

const PAGE = 200;

function TokenTable({ tokens, onCreated }: TokenTableProps) {
  const [shown, setShown] = useState(PAGE);
  return (
    <>
      <table class="list tokens">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Kind</th>
            <th scope="col">Projects</th>
            <th scope="col">Environment</th>
            <th scope="col">Created</th>
            <th scope="col">Expires</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.slice(0, shown).map((token) => (
            <TokenRow key={token.id} token={token} onCreated={onCreated} />
          ))}
        </tbody>
      </table>
      {tokens.length > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show more
        </button>
      )}
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
  const close = () => setOpen(undefined);
  const isExpired = expiresAt !== null && new Date(expiresAt).getTime() <= Date.now();
  const remove = async () => {
    try {
      await call('deleteToken', { params: { token: id } });
      showToast({ tone: 'done', text: `The token ${tokenName} was deleted.` });
    } catch (error) {
      showToast({ tone: 'fault', text: (error as Error).message });
    }
    invalidate((action) => action === 'listTokens');
  };
  return (
    <tr class={isExpired ? 'expired' : ''}>
      <th scope="row">{tokenName}</th>
      <td>
        <span class={type === 'admin' ? 'tag warning' : 'tag'}>{tokenKind(type)}</span>
      </td>
      <td>{projects.includes('*') ? <span class="muted">all</span> : projects.join(', ')}</td>
      <td>{environment === '*' ? <span class="muted">all</span> : environment}</td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        <Expiry expiresAt={expiresAt} />
      </td>
      <td>{lastUsedAt === null ? <span class="muted">never</span> : <Time at={lastUsedAt} />}</td>
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
            isDanger
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
