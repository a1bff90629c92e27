import { createServer, type Server } from 'node:http';
import type { Flags } from '@flags/core';
import { createFlagsApi, toNodeHandler } from '@flags/http';
import { createFlagsUi } from '@flags/ui';
import { type Command, Option } from 'commander';
import { isAddress, nameOf, openFlagsOf } from '../connection.js';
import { type CommandIo, createOutput, usageError } from '../output.js';
import { closeServer, isLoopback, listen, type ServeOptions, urlOf, waitForStop } from '../serving.js';
import { namesIn, reviewedIn } from '../session.js';
import { serveFollower } from './serve-follower.js';

/** Adds `serve`: the API and the admin page on this machine, in memory unless a store is named. */
export function addServeCommand(program: Command, io: CommandIo): void {
  program
    .command('serve')
    .description('serve the API and the admin page; in memory with sample flags unless a store is named')
    .option('--port <port>', 'port; 0 for any free one', '4242')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--demo', 'sample flags in memory, even if FLAGS_STORE names a store')
    .option('--follow <url>', 'follow another server by a client token (--token) instead: serves SDKs only')
    .option('--cache <file>', 'file that keeps the last flags of a followed server')
    .addOption(
      new Option('--auth <mode>', 'default: none in memory on this machine, otherwise token').choices([
        'token',
        'none',
      ]),
    )
    .action((_options, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>();
      checkListening(options);
      return options.follow === undefined ? serve(io, options, storeOf(command)) : follow(io, options, command);
    });
}

function checkListening({ port, dryRun }: ServeOptions): void {
  if (!/^\d{1,5}$/.test(port)) throw usageError(`--port is a number from 0 to 65535, not ${port}.`);
  if (dryRun === true) throw usageError('serve has no --dry-run. It changes no flags of a store.');
}

/** A followed server takes the place of a store. A store that only the environment names gives way to it. */
function follow(io: CommandIo, options: ServeOptions, command: Command): Promise<void> {
  const isNamed = command.parent?.getOptionValueSource('store') === 'cli';
  if (isNamed || options.demo === true) {
    throw usageError('serve --follow has the flags of another server: leave out --store and --demo.');
  }
  return serveFollower(io, options, options.follow ?? '');
}

/** The store to serve. `--demo` ignores a store that only the environment variable names. */
function storeOf(command: Command): string {
  const { store, demo } = command.optsWithGlobals<ServeOptions>();
  if (demo !== true) return store || ':memory:';
  const isNamed = command.parent?.getOptionValueSource('store') === 'cli';
  if (isNamed && store !== ':memory:') throw usageError('serve --demo keeps its flags in memory: leave out --store.');
  return ':memory:';
}

async function serve(io: CommandIo, options: ServeOptions, store: string): Promise<void> {
  if (isAddress(store)) throw usageError('serve needs a store, not an address: --store FILE, or --store :memory:');
  if (options.cache !== undefined) throw usageError('--cache keeps the flags of a followed server: add --follow URL.');
  const isEphemeral = store === ':memory:';
  const auth = options.auth ?? (isEphemeral && isLoopback(options.host) ? 'none' : 'token');
  const environments = namesIn(options.environments);
  const flags = await openFlagsOf(store, { environments, create: true, driverFrom: options.driverFrom }, {});
  const api = createFlagsApi(flags, { auth });
  const handle = toNodeHandler(api);
  const server = createServer();
  try {
    const page = createPage(options, flags, store);
    server.on('request', (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: 'ui/' }).end();
      else page(request, response, () => void handle(request, response));
    });
    if (isEphemeral) await createSamples(flags);
    await listen(server, options);
    const secret = auth === 'token' ? await createFirstToken(flags) : undefined;
    announce(io, { options, auth, secret, server, store });
    await waitForStop();
    createOutput(io, options.json === true).line('Stopped.');
  } finally {
    api.close();
    await closeServer(server);
    await flags.close();
  }
}

function createPage(options: ServeOptions, { settings }: Flags, store: string) {
  const reviewIn = reviewedIn(
    options,
    settings.environments.map(({ name }) => name),
  );
  return createFlagsUi({
    ...(reviewIn && { reviewIn }),
    ...(store === ':memory:' && { banner: { text: 'In memory: all data is lost when the command ends.' } }),
  });
}

interface Served {
  readonly options: ServeOptions;
  readonly auth: 'token' | 'none';
  readonly secret: string | undefined;
  readonly server: Server;
  readonly store: string;
}

/** Writes the addresses, and the secret of a token that was created. */
function announce(io: CommandIo, { options, auth, secret, server, store }: Served): void {
  const output = createOutput(io, options.json === true);
  const url = urlOf(server, options);
  const page = `${url}/ui/`;
  output.json({ url, page, auth, ...(secret !== undefined && { token: secret }) });
  const isEphemeral = store === ':memory:';
  output.line(
    isEphemeral ? 'Sample flags in memory: all data is lost when the command ends.' : `The flags of ${nameOf(store)}.`,
  );
  output.line(`Admin page  ${output.colors.bold(page)}`);
  output.line(`API         ${url}/api/admin`);
  if (secret !== undefined) output.line(`Admin token, shown only now: ${secret}`);
  if (auth === 'token' && secret === undefined) output.line('The store has an admin token already.');
  if (auth === 'none' && !isLoopback(options.host))
    output.line('Everybody who reaches this address can change the flags: see --auth token.');
  // In quotes: zsh reads the asterisks of a secret as a pattern.
  const token = auth === 'none' ? '' : ` --token '${secret ?? 'SECRET'}'`;
  output.line(`In another terminal: flags list --store ${url}${token}`);
  output.line('Stop with Ctrl-C.');
}

/** Creates an admin token unless the store has one that has not expired. */
async function createFirstToken(flags: Flags): Promise<string | undefined> {
  const now = new Date().toISOString();
  const { items: tokens } = await flags.tokens.list();
  const isUsable = tokens.some(({ kind, expiresAt }) => kind === 'admin' && (expiresAt === null || expiresAt > now));
  if (isUsable) return undefined;
  const isTaken = tokens.some(({ name }) => name === 'first admin');
  const { secret } = await flags.tokens.create({ name: isTaken ? `admin of ${now}` : 'first admin', kind: 'admin' });
  return secret;
}

/** Creates sample flags with a rollout, a constraint, variants and a kill switch, and a day of usage. */
async function createSamples(flags: Flags): Promise<void> {
  const project = 'default';
  const { environment } = flags.settings;
  const ref = (flag: string) => ({ project, flag, environment });
  await flags.as('samples').apply(
    [
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'checkout', description: 'The new checkout', labels: ['shop'], owner: 'shop' },
      },
      {
        op: 'addStrategy',
        ref: ref('checkout'),
        input: { name: 'flexibleRollout', parameters: { rollout: '25', groupId: 'checkout', stickiness: 'userId' } },
      },
      { op: 'enable', ref: ref('checkout') },
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'banner', type: 'experiment', description: 'Colors of the banner', labels: ['shop'] },
      },
      {
        op: 'addStrategy',
        ref: ref('banner'),
        input: { name: 'default', constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }] },
      },
      { op: 'enable', ref: ref('banner') },
      {
        op: 'setVariants',
        ref: { project, flag: 'banner' },
        input: [{ name: 'red' }, { name: 'blue' }],
      },
      {
        op: 'createFlag',
        ref: { project },
        input: { name: 'pay-later', type: 'kill-switch', description: 'Payment by invoice', owner: 'payments' },
      },
    ],
    { reason: 'Sample flags' },
  );
  await reportUsage(flags);
}

const HOUR = 3_600_000;
const HOURS = 24;

/** Reports usage of two applications for the latest hours, so that the charts of the admin page are not empty. */
async function reportUsage(flags: Flags): Promise<void> {
  const now = Date.now();
  const reports = Array.from({ length: HOURS }, (_, age) => {
    const stop = now - age * HOUR;
    // Simulates more traffic in the afternoon.
    const evaluations = Math.round(120 + 100 * Math.sin(((new Date(stop).getUTCHours() - 9) / 12) * Math.PI));
    const yes = Math.round(evaluations / 4);
    const red = Math.round(yes / 2);
    const checkout = { yes, no: evaluations - yes };
    const banner = { yes, no: evaluations - yes, variants: { red, blue: yes - red } };
    const report = { environment: flags.settings.environment, start: stop - HOUR / 60, stop };
    return [
      { ...report, application: 'shop', counts: { checkout, banner } },
      { ...report, application: 'mobile', counts: { checkout } },
    ];
  });
  await flags.reportMetricsInBulk({ reports: reports.flat().reverse() });
}
