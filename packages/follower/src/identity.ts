import { type CustomStrategy, FlagsError, type FlagsSettings, isFlagsError } from '@flags/core';
import { createSettings } from '@flags/core/integration/follower';
import { type AskForTokens, type Scope, scopeInText } from './tokens.js';

/** What the own token may see. */
export interface Identity {
  /** Undefined before the first answer of the server. */
  readonly scope: Scope | undefined;
  /** The environment is that of the scope. Before the first answer, it is the one in the text of the token. */
  readonly settings: FlagsSettings;
  /**
   * Asks the server.
   *
   * @throws FlagsError `invalid_input`, `unauthenticated`, `forbidden`, `upstream_unavailable`
   */
  find(signal: AbortSignal): Promise<void>;
}

export interface IdentityOptions {
  readonly token: string;
  readonly strategies: readonly CustomStrategy[];
  readonly ask: AskForTokens;
  /** From the cache file. */
  readonly scope: Scope | undefined;
}

export function createIdentity({ token, strategies, ask, ...cached }: IdentityOptions): Identity {
  const settingsFor = (environment: string) => createSettings({ environments: [{ name: environment }], strategies });
  let { scope } = cached;
  let settings = settingsFor(scope?.environment ?? environmentIn(token) ?? 'default');
  return {
    get scope() {
      return scope;
    },
    get settings() {
      return settings;
    },
    async find(signal) {
      const found = await findScope(token, ask, signal);
      if (found.environment !== settings.environment) settings = settingsFor(found.environment);
      scope = found;
    },
  };
}

/** Returns the environment in the text of a token, `project:environment.secret`. */
function environmentIn(token: string): string | undefined {
  const [, environment = '*'] = scopeInText(token);
  return environment !== '*' && /^[A-Za-z0-9_.!~*'()-]{1,100}$/.test(environment) ? environment : undefined;
}

/** Returns the kind of a token, if its text shows that it is not a client token. */
function kindInText(secret: string): string | undefined {
  const [project, environment] = scopeInText(secret);
  if (project === '*' && environment === '*') return 'an admin token, which is for all projects and environments';
  return /^user:/.test(secret) ? 'the personal access token of a user of Unleash' : undefined;
}

function wrongKind(kind: string): FlagsError {
  const message = `The token is ${kind}. Create a token of kind client (a backend token in newer versions of Unleash) for the environment to follow, and pass its secret.`;
  return new FlagsError('forbidden', message);
}

async function findScope(secret: string, ask: AskForTokens, signal: AbortSignal): Promise<Scope> {
  const wrong = kindInText(secret);
  const found = await ask([secret], signal).catch((error) => {
    const isRefused = isFlagsError(error) && ['unauthenticated', 'forbidden'].includes(error.code);
    throw isRefused && wrong !== undefined ? wrongKind(wrong) : error;
  });
  const own = found.find((token) => token.secret === secret);
  if (own === undefined && wrong !== undefined) throw wrongKind(wrong);
  if (own === undefined) {
    throw new FlagsError('unauthenticated', 'The token is unknown or has expired. Pass the secret of a valid one.');
  }
  if (own.kind !== 'client') {
    throw new FlagsError('forbidden', `This needs a token of kind client; the token is of kind ${own.kind}.`);
  }
  const { environment, projects } = own;
  if (environment === '*' || environment === '') {
    const message = 'token must be of one environment: create a client token for the environment to follow.';
    throw new FlagsError('invalid_input', message, [{ message, path: '/token' }]);
  }
  return { environment, projects };
}
