import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { invalidate, useResource } from '../../api/resource.js';
import type { CreatedToken, Token } from '../../api/types.js';
import { DAY } from '../../model/usage.js';
import { Ago } from '../../parts/control/answer.js';
import { DialogButton } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { Confirm } from '../../parts/form/dialog.js';
import { ListScreen } from '../../parts/list/list-screen.js';
import { currentProject } from '../../router.js';
import { projectName } from '../../state/projects.js';
import { attempt } from '../../state/toasts.js';
import { ago, time, tokenKind } from '../../words.js';
import { CreateTokenDialog, RotateTokenDialog, SecretDialog } from './token-dialogs.js';

const ALL = <span class="muted">all</span>;
const NEVER = <span class="muted">never</span>;

/** The API tokens of the instance. A secret is shown once, when its token is created. */
export function TokensScreen() {
  const reply = useResource('listTokens', {});
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
        reply={reply}
        items={reply.data?.tokens}
        keyOf={({ id }) => id}
        textOf={({ tokenName, type }) => `${tokenName} ${type}`}
        tableClass="tokens"
        rowClass={({ expiresAt }) => (expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : '')}
        columns={[
          { title: 'Name', cell: ({ tokenName }) => tokenName },
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
          { title: 'Created', isNamed: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
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

/** A token that expires within this time is marked. */
const SOON = 14 * DAY;

function Expiry({ expiresAt }: { readonly expiresAt: string }) {
  const left = new Date(expiresAt).getTime() - Date.now();
  return (
    <time dateTime={expiresAt} title={time(expiresAt)} class={left <= SOON ? 'tag warning' : ''}>
      {left <= 0 ? `expired ${ago(expiresAt)}` : ago(expiresAt)}
    </time>
  );
}
