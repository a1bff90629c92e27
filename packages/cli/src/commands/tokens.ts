import type { CreatedToken, Token } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { CommandError, type CommandIo, type Output, showPlanned, usageError } from '../output.js';
import { confirmOrRefuse } from '../review.js';
import { type CommandSession, type CommonOptions, createAction } from '../session.js';
import { durationOf } from '../times.js';

interface NewTokenOptions extends CommonOptions {
  readonly kind: string;
  readonly expiresAt?: string;
}

/** Adds the commands for API tokens. */
export function addTokenCommands(program: Command, io: CommandIo): void {
  const tokens = program.command('tokens').description('list, create, rotate and delete API tokens');
  tokens
    .command('list', { isDefault: true })
    .description('list tokens, without their secrets')
    .action(createAction(io, listTokens));
  tokens
    .command('create')
    .description('create a token, and show its secret once')
    .argument('<name>')
    .addOption(
      new Option('--kind <kind>', 'what the token is for').choices(['client', 'frontend', 'admin']).default('client'),
    )
    .option('--expires-at <time>', 'ISO 8601')
    .action(createAction(io, createToken));
  tokens
    .command('rotate')
    .description('replace a token by a new one; the old one works until the overlap ends')
    .argument('<token>', 'its id or name')
    .option('--overlap <time>', 'how long the old secret works: 30s, 15m, 12h, 7d, or 0', '1d')
    .action(createAction(io, rotateToken));
  tokens
    .command('delete')
    .description('delete a token; it stops working at once')
    .argument('<token>', 'its id or name')
    .action(createAction(io, deleteToken));
}

async function listTokens({ api, output }: CommandSession): Promise<void> {
  const { tokens } = await api.get<{ tokens: readonly Token[] }>('/api-tokens');
  output.json(tokens);
  if (tokens.length === 0) output.line('There are no tokens.');
  else {
    output.table(
      ['Id', 'Name', 'Kind', 'Projects', 'Environment', 'Expires', 'Last used'],
      tokens.map((one) => [
        one.id,
        one.tokenName,
        one.type,
        one.projects.join(', '),
        one.environment,
        one.expiresAt ?? 'never',
        one.lastUsedAt ?? 'never',
      ]),
    );
  }
}

async function createToken({ api, output, options }: CommandSession<NewTokenOptions>, tokenName: string) {
  const { kind, expiresAt } = options;
  const isAdmin = kind === 'admin';
  if (options.dryRun === true) return showPlanned(output, `Would create the ${kind} token ${tokenName}.`);
  const created = await api.post<CreatedToken>('/api-tokens', {
    tokenName,
    type: kind,
    ...(!isAdmin && options.project !== undefined && { project: options.project }),
    ...(!isAdmin && options.environment !== undefined && { environment: options.environment }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  showSecret(output, created);
}

function showSecret(output: Output, created: CreatedToken): void {
  output.json(created);
  const { tokenName, type, projects, environment, id, secret } = created;
  const scope = type === 'admin' ? '' : ` for ${environment}, projects ${projects.join(', ')}`;
  output.line(`The ${type} token ${tokenName}${scope} has the id ${id}. Its secret is shown only now:`);
  output.line(secret);
}

/** Returns the milliseconds of an overlap such as `12h`. */
function overlapOf(text: string): number {
  const overlap = text === '0' ? 0 : durationOf(text);
  if (overlap !== undefined) return overlap;
  throw usageError(`--overlap is a time such as 30s, 15m, 12h or 7d, not ${text}.`);
}

/** Finds tokens by an id or a name, oldest first. */
async function findTokens({ api }: CommandSession, idOrName: string): Promise<readonly Token[]> {
  const { tokens } = await api.get<{ tokens: readonly Token[] }>('/api-tokens');
  return tokens.filter(({ id, tokenName }) => id === idOrName || tokenName === idOrName);
}

function onlyToken(found: readonly Token[], idOrName: string): Token {
  const [token] = found;
  if (!token) throw new CommandError(`There is no token ${idOrName}. List the tokens: flags tokens list`);
  if (found.length === 1) return token;
  throw new CommandError(`${idOrName} names several tokens. Use the id: ${found.map(({ id }) => id).join(', ')}`);
}

interface RotationOptions extends CommonOptions {
  readonly overlap: string;
}

async function rotateToken(session: CommandSession<RotationOptions>, idOrName: string): Promise<void> {
  const { output, options } = session;
  const { overlap: time } = options;
  const overlap = overlapOf(time);
  // Tokens of one kind with the same name are a token and its predecessors.
  const found = await findTokens(session, idOrName);
  const newest = [...new Map(found.map((token) => [token.type, token])).values()];
  const { id, tokenName } = onlyToken(newest, idOrName);
  const effect =
    overlap === 0 ? 'The old secret stops working at once.' : `The old secret stops working after ${time}.`;
  if (options.dryRun === true) return showPlanned(output, `Would replace the token ${tokenName}. ${effect}`);
  await confirmOrRefuse(session, `Replace the token ${tokenName}? ${effect}`);
  showSecret(output, await session.api.post<CreatedToken>('/api-tokens/rotate', { id, overlap }));
  output.line(effect);
}

async function deleteToken(session: CommandSession, idOrName: string): Promise<void> {
  const { output, options } = session;
  const { id, tokenName } = onlyToken(await findTokens(session, idOrName), idOrName);
  if (options.dryRun === true) return showPlanned(output, `Would delete the token ${tokenName}.`);
  await confirmOrRefuse(session, `Delete the token ${tokenName}? Programs that use it get 401.`);
  await session.api.delete(`/api-tokens/${encodeURIComponent(id)}`);
  output.json({ changed: true, deleted: id });
  output.line(`Deleted the token ${tokenName}.`);
}
