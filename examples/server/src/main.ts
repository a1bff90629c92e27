import type { Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { Flags } from '@flags/core';
import { createFlagsRouter, type FlagsRouter } from '@flags/express';
import { pino } from 'pino';
import { ensureAdminToken } from './admin-token.js';
import { createApp, noteFault } from './app.js';
import { closeServer } from './close-server.js';
import { ConfigError, readConfig, type ServerConfig } from './config.js';
import { nameOfDatabase } from './database-name.js';
import { listen, urlOf } from './listen.js';
import { openLogOutput } from './log-output.js';
import { openFlags } from './open-flags.js';
import { DELETED_ADMIN_TOKEN, welcome } from './welcome.js';

/** How long requests may continue after the first signal, in milliseconds. */
const SHUTDOWN_PATIENCE = 10_000;
/** One Ctrl-C arrives twice under `npm start`: from the terminal, and passed on by npm. */
const SAME_KEYSTROKE = 300;

/** The resources to close before the process ends. */
interface Running {
  readonly server: Server;
  readonly router: FlagsRouter;
  readonly flags: Flags;
}

/** How long the last lines of the log may wait for their reader before the process ends, in milliseconds. */
const LOG_PATIENCE = 500;

// Limits the growth of the heap: the server takes a quarter less memory under load, at the same speed.
setFlagsFromString('--heap-growing-percent=50');

const output = openLogOutput();
const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, output);

async function start(config: ServerConfig): Promise<void> {
  const flags = await openFlags(config);
  try {
    const { auth, cors, trustedOrigins, allowedHosts } = config;
    const router = createFlagsRouter(flags, {
      auth,
      trustedOrigins,
      allowedHosts,
      onError: noteFault,
      ...(cors && { cors }),
    });
    const server = await listen(createApp({ flags, router, logger }), config);
    warnOfDrops(server, config);
    await announce(server, flags, config);
    stopOnSignal({ server, router, flags });
  } catch (error) {
    await flags.close();
    throw error;
  }
}

async function announce(server: Server, flags: Flags, config: ServerConfig): Promise<void> {
  const access = config.auth === 'none' ? {} : await ensureAdminToken(flags, config.adminToken);
  const url = urlOf(server);
  output.write(welcome(config, url, access));
  if (access.isDeleted) logger.warn(DELETED_ADMIN_TOKEN);
  const { auth, environment } = config;
  logger.info({ url, database: nameOfDatabase(config.database), auth, environment }, 'listening');
}

/** Once per minute, because a client that is refused connects again. */
function warnOfDrops(server: Server, { maxConnections }: ServerConfig): void {
  let last = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    if (performance.now() - last < 60_000) return;
    last = performance.now();
    logger.warn({ maxConnections }, 'connections refused: raise FLAGS_MAX_CONNECTIONS if these clients are yours');
  });
}

/** The first signal lets requests finish; a later one ends the process at once. */
function stopOnSignal(running: Running): void {
  let since: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (since === undefined) {
      since = performance.now();
      logger.info({ signal }, 'stopping');
      stop(running).catch(fail);
    } else if (performance.now() - since > SAME_KEYSTROKE) process.exit(1);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function stop({ server, router, flags }: Running): Promise<void> {
  router.close();
  await closeServer(server, SHUTDOWN_PATIENCE);
  await flags.close();
  logger.info('stopped');
  await output.flush(LOG_PATIENCE);
  process.exit(0);
}

async function fail(error: unknown): Promise<never> {
  if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
  else logger.fatal({ err: error }, 'failed');
  await output.flush(LOG_PATIENCE);
  process.exit(1);
}

async function main(): Promise<void> {
  await start(readConfig(process.env));
}

main().catch(fail);
