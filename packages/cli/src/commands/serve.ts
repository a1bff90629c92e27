import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Flags } from '@flags/core';
import { createFlagsApi, toNodeHandler } from '@flags/http';
import type { Command } from 'commander';
import { openFlags } from '../connection.js';
import { CommandError, usageError } from '../errors.js';
import { type CommandIo, createOutput } from '../output.js';
import { type CommonOptions, namesIn } from '../session.js';

interface ServeOptions extends CommonOptions {
  readonly port: string;
  readonly host: string;
  readonly auth?: string;
}

/** Adds `serve`: the API on this machine, in memory unless a store is named. */
export function addServeCommand(program: Command, io: CommandIo): void {
  program
    .command('serve')
    .description('serve the admin API and the admin page; in memory with sample flags unless --store names a store')
    .option('--port <port>', 'port; 0 for any free one', io.env.PORT ?? '4242')
    .option('--host <host>', 'address to listen on', io.env.HOST ?? '127.0.0.1')
    .option('--auth <mode>', 'token or none; default: none in memory, token for a store')
    .action((_options, command: Command) => serve(io, command.optsWithGlobals<ServeOptions>()));
}

async function serve(io: CommandIo, options: ServeOptions): Promise<void> {
  const { store = ':memory:', environments } = options;
  if (/^https?:/.test(store)) throw usageError('serve needs a store, not an address.');
  const isEphemeral = store === ':memory:';
  const auth = authOf(options.auth, isEphemeral);
  const output = createOutput(io, options.json === true);
  const flags = await openFlags(store, { environments: namesIn(environments), create: true }, {});
  try {
    if (isEphemeral) await createSamples(flags);
    const secret = auth === 'token' ? await createFirstToken(flags) : undefined;
    const api = toNodeHandler(createFlagsApi(flags, { auth }));
    const server = await listen(createServer((request, response) => void api(request, response)), options);
    const { port } = server.address() as AddressInfo;
    const url = `http://${options.host}:${port}`;
    output.json({ url, auth, ...(secret !== undefined && { token: secret }) });
    output.line(`Flags are served at ${url}/api/admin${isEphemeral ? ', in memory: they are gone afterwards' : ''}.`);
    if (secret !== undefined) output.line(`Admin token, shown only now: ${secret}`);
    const header = auth === 'none' ? '' : ` -H 'Authorization: ${secret ?? '<admin token>'}'`;
    output.line(`Try: curl${header} ${url}/api/admin/features`);
    await untilStopped();
    api.close?.();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  } finally {
    await flags.close();
  }
}

function authOf(given: string | undefined, isEphemeral: boolean): 'token' | 'none' {
  const auth = given ?? (isEphemeral ? 'none' : 'token');
  if (auth !== 'token' && auth !== 'none') throw usageError(`--auth is token or none, not ${auth}.`);
  return auth;
}

function listen(server: Server, { port, host }: ServeOptions): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(new CommandError(isTaken ? `Port ${port} is in use. Choose another one: --port 0` : error.message));
    });
    server.listen(Number(port), host, () => resolve(server));
  });
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

/** Creates an admin token unless the store has one. */
async function createFirstToken(flags: Flags): Promise<string | undefined> {
  const tokens = await flags.listTokens();
  if (tokens.some(({ kind }) => kind === 'admin')) return undefined;
  const { secret } = await flags.createToken({ name: 'first admin', kind: 'admin' });
  return secret;
}

/** Creates flags that show what there is: a rollout, a constraint, variants and a kill switch. */
async function createSamples(flags: Flags): Promise<void> {
  const project = 'default';
  const environment = flags.settings.environment;
  const ref = (flag: string) => ({ project, flag, environment });
  await flags.as('samples').apply([
    { op: 'createFlag', ref: { project }, input: { name: 'checkout', description: 'The new checkout', labels: ['shop'] } },
    {
      op: 'addStrategy',
      ref: ref('checkout'),
      input: { name: 'flexibleRollout', parameters: { rollout: '25', groupId: 'checkout', stickiness: 'userId' } },
    },
    { op: 'enable', ref: ref('checkout') },
    { op: 'createFlag', ref: { project }, input: { name: 'banner', type: 'experiment', description: 'Colors of the banner' } },
    {
      op: 'addStrategy',
      ref: ref('banner'),
      input: {
        name: 'default',
        parameters: {},
        constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }],
      },
    },
    { op: 'enable', ref: ref('banner') },
    {
      op: 'setVariants',
      ref: { project, flag: 'banner' },
      input: [
        { name: 'red', weightType: 'variable' },
        { name: 'blue', weightType: 'variable' },
      ],
    },
    { op: 'createFlag', ref: { project }, input: { name: 'pay-later', type: 'kill-switch', owner: 'payments' } },
  ]);
}
