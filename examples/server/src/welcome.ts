import type { AdminAccess } from './admin-token.js';
import type { ServerConfig, StorageConfig, UpstreamConfig } from './config.js';

type WelcomeConfig = Pick<ServerConfig, 'auth'> & StorageConfig;

/** The server starts nevertheless, because others may need it. */
export const DELETED_ADMIN_TOKEN =
  'FLAGS_ADMIN_TOKEN is the secret of a token that was deleted, and that stays deleted: take the variable away, or set a new secret.';

/** The message at the start of the server: the address of the admin page, and the first call. The log follows. */
export function welcome(config: WelcomeConfig, url: string, access: AdminAccess): string {
  const environment = `Evaluates ${config.environment} unless a token names another environment: FLAGS_ENVIRONMENT.`;
  return `The admin page: ${url}/ui/\n${environment}\n${advice(config, url, access)}`;
}

/** The message at the start of a follower. */
export function welcomeOfFollower(
  { upstream, cache }: UpstreamConfig,
  url: string,
  { environment, auth }: { readonly environment: string; readonly auth: ServerConfig['auth'] },
): string {
  const token = auth === 'none' ? '' : ` -H "Authorization: $CLIENT_TOKEN"`;
  return [
    `Follows ${upstream}, environment ${environment}. The last flags are kept in ${cache}.`,
    `SDKs use this address with the tokens that they have there:`,
    `  curl${token} ${url}/api/client/features`,
    '',
  ].join('\n');
}

function advice(config: WelcomeConfig, url: string, access: AdminAccess): string {
  if (config.auth === 'none') return `${call(url)}\n\nFLAGS_AUTH=none: whoever reaches ${url} may change every flag.\n`;
  if (access.secret !== undefined) return firstStart(url, access.secret);
  if (access.isDeleted) return `${DELETED_ADMIN_TOKEN}\n`;
  if (config.adminToken !== undefined) return `${call(url, '$FLAGS_ADMIN_TOKEN')}\n`;
  return laterStart();
}

function firstStart(url: string, secret: string): string {
  return [
    'An admin token was made. Keep it: it is shown this once. The admin page asks for it.',
    `  ${secret}`,
    'Try it:',
    `${call(url, secret)}`,
    '',
  ].join('\n');
}

function laterStart(): string {
  return [
    'The admin token was shown when it was made, and cannot be shown again.',
    'Lost it? Start once with FLAGS_ADMIN_TOKEN=<a secret of your own> to add another.',
    '',
  ].join('\n');
}

function call(url: string, secret?: string): string {
  if (secret === undefined) return `  curl ${url}/api/admin/projects/default`;
  // Shells read a variable in double quotes only, and the asterisks of a secret as they are in single quotes.
  const quote = secret.startsWith('$') ? '"' : "'";
  const authorization = ` -H ${quote}Authorization: ${secret}${quote}`;
  return `  curl${authorization} ${url}/api/admin/projects/default`;
}
