import type { Command } from 'commander';
import { CommandError } from '../errors.js';
import type { CommandIo } from '../output.js';
import { confirmOrRefuse } from '../review.js';
import { type CommandSession, type CommonOptions, withSession } from '../session.js';

interface WireToken {
  readonly id: string;
  readonly tokenName: string;
  readonly type: string;
  readonly projects: readonly string[];
  readonly environment: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt?: string | null;
  readonly secret?: string;
}

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
    .action((_options, command: Command) => withSession(io, command.optsWithGlobals(), listTokens));
  tokens
    .command('create')
    .description('create a token, and show its secret once')
    .argument('<name>')
    .option('--kind <kind>', 'client, frontend or admin', 'client')
    .option('--expires-at <time>', 'ISO 8601')
    .action((name: string, _options, command: Command) => {
      const options = command.optsWithGlobals<NewTokenOptions>();
      return withSession(io, options, (session) => createToken(session, name, options));
    });
  tokens
    .command('rotate')
    .description('replace a token by a new one; the old one works until the overlap is over')
    .argument('<id>')
    .option('--overlap <seconds>', 'how long the old secret works', '86400')
    .action((id: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => rotateToken(session, id, command.opts().overlap)),
    );
  tokens
    .command('delete')
    .description('delete a token; it stops working at once')
    .argument('<id>')
    .action((id: string, _options, command: Command) =>
      withSession(io, command.optsWithGlobals(), (session) => deleteToken(session, id)),
    );
}

async function listTokens({ api, output }: CommandSession): Promise<void> {
  const { tokens } = await api.get<{ tokens: readonly WireToken[] }>('/api-tokens');
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

async function createToken({ api, output, options }: CommandSession, tokenName: string, given: NewTokenOptions) {
  const { kind, expiresAt } = given;
  const isAdmin = kind === 'admin';
  const created = await api.post<WireToken>('/api-tokens', {
    tokenName,
    type: kind,
    ...(!isAdmin && options.project !== undefined && { project: options.project }),
    ...(!isAdmin && options.environment !== undefined && { environment: options.environment }),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  showSecret(output, created);
}

function showSecret(output: CommandSession['output'], created: WireToken): void {
  output.json(created);
  output.line(`Token ${created.tokenName} (${created.id}). Its secret is shown only now:`);
  output.line(created.secret);
}

async function rotateToken(session: CommandSession, id: string, overlap: string): Promise<void> {
  const seconds = Number(overlap);
  if (!Number.isFinite(seconds) || seconds < 0) throw new CommandError(`--overlap is a number of seconds, not ${overlap}.`);
  await confirmOrRefuse(session, `Replace the token ${id}? The old secret stops working after ${seconds} s.`);
  const path = `/api-tokens/${encodeURIComponent(id)}/rotate`;
  showSecret(session.output, await session.api.post<WireToken>(path, { overlap: seconds }));
}

async function deleteToken(session: CommandSession, id: string): Promise<void> {
  await confirmOrRefuse(session, `Delete the token ${id}? Programs that use it get 401.`);
  await session.api.delete(`/api-tokens/${encodeURIComponent(id)}`);
  session.output.json({ deleted: id });
  session.output.line('Deleted.');
}
