import { useState } from 'preact/hooks';
import { forgetToken, hasToken, keepToken } from '../../api/credentials.js';
import { Button } from '../../parts/control/controls.js';
import { Field } from '../../parts/form/field.js';
import { Heading } from '../../parts/frame/heading.js';
import { signInAddress } from '../../settings.js';
import { session } from '../../state/session.js';

/** Shown to callers without access. Drafts stay. */
export function SignIn() {
  const link = signInAddress();
  const auth = session.value?.auth;
  const takesToken = auth !== 'host' || link === undefined;
  return (
    <section class="narrow card">
      <Heading title="Sign in" />
      {link !== undefined && (
        <>
          <p>Your session has ended, or you are not signed in. Unsaved edits wait here.</p>
          <p>
            <a class="button primary" href={link}>
              Sign in
            </a>
          </p>
        </>
      )}
      {takesToken && link === undefined && <TokenForm submit="Sign in" />}
      {takesToken && link !== undefined && (
        <details open={hasToken()}>
          <summary>Use an admin token instead</summary>
          <TokenForm submit="Use the token" />
        </details>
      )}
    </section>
  );
}

function TokenForm({ submit }: { readonly submit: string }) {
  const [secret, setSecret] = useState('');
  const isRefused = hasToken();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (secret.trim() !== '') keepToken(secret.trim());
      }}
    >
      <Field
        label="Admin token"
        hint="Kept in this tab until you close it. Never part of an address."
        fault={isRefused ? 'The server does not accept this token. It may have expired.' : undefined}
      >
        {(ids) => (
          <input
            {...ids}
            type="password"
            name="token"
            autocomplete="current-password"
            value={secret}
            onInput={({ currentTarget }) => setSecret(currentTarget.value)}
          />
        )}
      </Field>
      <p class="actions">
        <Button type="submit" class="primary">
          {submit}
        </Button>
        {isRefused && <Button onClick={forgetToken}>Forget</Button>}
      </p>
    </form>
  );
}
