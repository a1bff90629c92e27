import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { invalidate, useResource } from '../../api/resource.js';
import type { CreatedToken, Token } from '../../api/types.js';
import { expiryState } from '../../model/expiry.js';
import { Ago } from '../../parts/control/answer.js';
import { DialogButton } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { Confirm } from '../../parts/form/dialog.js';
import { ListScreen } from '../../parts/list/list-screen.js';
import { currentProject } from '../../router.js';
import { projectName } from '../../state/projects.js';
import { attempt } from '../../state/toasts.js';
import { time, timeAgo, tokenKind } from '../../words.js';
import { CreateTokenDialog, RotateTokenDialog, SecretDialog } from './token-dialogs.js';

const ALL = <span class="muted">all</span>;
const NEVER = <span class="muted">never</span>;

/** The API tokens of the instance. A secret is shown once, when its token is created. */
export function Tokens() {
  const reply = useResource('listTokens', {});
  const [created, setCreated] = useState<CreatedToken>();
  const show = (token: CreatedToken) => {
    setCreated(token);
    invalidate('listTokens');
  };
  return (
    <>
      <ListScreen
        isPart
        title="API tokens"
        noun="token"
        reply={reply}
        items={reply.data?.tokens}
        keyOf={({ id }) => id}
        textOf={({ tokenName, type }) => `${tokenName} ${type}`}
        tableClass="tokens"
        rowClass={({ expiresAt }) => expiryState(expiresAt) ?? ''}
        columns={[
          { title: 'Name', cell: (token) => <TokenName token={token} /> },
          {
            title: 'Kind',
            cell: ({ type }) => <span class={type === 'admin' ? 'tag warning' : 'tag'}>{tokenKind(type)}</span>,
          },
          {
            title: 'Projects',
            isNamed: true,
            class: () => 'names',
            cell: ({ projects }) => (projects.includes('*') ? ALL : projects.map(projectName).join(', ')),
          },
          {
            title: 'Environment',
            isNamed: true,
            cell: ({ environment }) => (environment === '*' ? ALL : environment),
          },
          {
            title: 'Created',
            isNamed: true,
            cell: ({ createdAt, createdBy }) => (
              <>
                <Ago at={createdAt} />
                {createdBy && <small class="muted"> by {createdBy.name}</small>}
              </>
            ),
          },
          {
            title: 'Expires',
            isNamed: true,
            cell: ({ expiresAt }) => (expiresAt === null ? NEVER : <Expiry expiresAt={expiresAt} />),
          },
          {
            title: 'Last used',
            isNamed: true,
            cell: ({ lastUsedAt }) => (lastUsedAt === null ? NEVER : <Ago at={lastUsedAt} />),
          },
          { title: '', cell: (token) => <TokenActions token={token} onCreated={show} /> },
        ]}
        empty={{
          title: 'No tokens yet',
          text: 'Applications use client tokens, browsers use frontend tokens, and scripts use admin tokens.',
        }}
        create={
          <DialogButton
            class="primary"
            needs={['createToken']}
            project={currentProject()}
            dialog={(close) => <CreateTokenDialog onCreated={show} onClose={close} />}
          >
            <Icon name="plus" /> New token
          </DialogButton>
        }
      />
      {created && <SecretDialog token={created} onClose={() => setCreated(undefined)} />}
    </>
  );
}

interface TokenActionsProps {
  readonly token: Token;
  readonly onCreated: (token: CreatedToken) => void;
}

function TokenActions({ token, onCreated }: TokenActionsProps) {
  const { id, tokenName } = token;
  const remove = async () => {
    await attempt(() => call('deleteToken', { params: { token: id } }), `The token ${tokenName} was deleted.`);
    invalidate('listTokens');
  };
  return (
    <>
      <DialogButton
        class="quiet"
        needs={['rotateToken']}
        project={currentProject()}
        label={`Rotate ${tokenName}`}
        dialog={(close) => <RotateTokenDialog token={token} onCreated={onCreated} onClose={close} />}
      >
        Rotate…
      </DialogButton>
      <DialogButton
        class="quiet"
        needs={['deleteToken']}
        project={currentProject()}
        label={`Delete ${tokenName}`}
        dialog={(close) => (
          <Confirm
            title={`Delete the token ${tokenName}?`}
            text="Programs that use it get 401 from then on. This cannot be undone. To replace a token without a gap, rotate it."
            confirm={`Confirm: delete ${tokenName}`}
            onConfirm={remove}
            onClose={close}
          />
        )}
      >
        Delete…
      </DialogButton>
    </>
  );
}

/** The mark beside the name is in view where the other columns are not. */
function TokenName({ token: { tokenName, expiresAt } }: { readonly token: Token }) {
  const state = expiryState(expiresAt);
  return (
    <>
      {tokenName}{' '}
      {state !== undefined && (
        <span class={state === 'soon' ? 'tag warning' : 'tag'}>{state === 'soon' ? 'expires soon' : 'expired'}</span>
      )}
    </>
  );
}

function Expiry({ expiresAt }: { readonly expiresAt: string }) {
  return (
    <time dateTime={expiresAt} title={time(expiresAt)}>
      {timeAgo(expiresAt)}
    </time>
  );
}
