import { createServer, request as forward, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, type FlagsOptions, memoryStorage, openFlags } from '@flags/core';
import { createFlagsRouter, type FlagsRouterOptions, type SessionRouterOptions } from '@flags/express';
import { sharedBrowser, type Visit } from '@flags/test-browser';
import { createFlagsUi, type FlagsUiOptions } from '@flags/ui';
import express from 'express';
import helmet from 'helmet';
import { extent } from '../../../../test/extent.js';
import { createRandom } from '../../../../test/seed.js';
import { until } from '../../../../test/until.js';

/** Tests in a browser: skipped without one. */
export const describeInBrowser = sharedBrowser() === undefined ? describe.skip : describe;

/** In full, the maximum random delay of every response, in milliseconds. It finds missing waits in tests. */
const LATENCY = extent({ short: 0, full: 100 });
const random = createRandom();

/** An application with the router and the page. */
export interface Host {
  readonly flags: Flags;
  /** The address of the page, with a slash at its end. */
  readonly page: string;
  close(): Promise<void>;
}

export interface HostOptions {
  readonly framework?: 'express4' | 'express5';
  /** The path of the router and the page. */
  readonly mount?: string;
  /** A gateway in front removes this prefix. */
  readonly gateway?: string;
  readonly helmet?: boolean;
  readonly router?: FlagsRouterOptions | SessionRouterOptions;
  readonly ui?: FlagsUiOptions;
  readonly recentContexts?: number;
  readonly environments?: NonNullable<FlagsOptions['environments']>;
  readonly now?: () => Date;
  readonly due?: NonNullable<FlagsOptions['due']>;
}

export async function startHost(options: HostOptions = {}): Promise<Host> {
  const { framework = 'express5', mount = '', gateway, router: routerOptions = { auth: 'none' }, ui = {} } = options;
  const { recentContexts = 0, now = () => new Date(), environments, due = {} } = options;
  const flags = await openFlags({
    storage: memoryStorage(),
    recentContexts,
    now,
    due,
    ...(environments && { environments }),
  });
  const router = createFlagsRouter(flags, routerOptions as FlagsRouterOptions);
  const app = (framework === 'express4' ? jest.requireActual<typeof express>('express4') : express)();
  if (LATENCY > 0) app.use((_request, _response, next) => void setTimeout(next, random() * LATENCY));
  if (options.helmet) app.use(helmet());
  app.use(mount || '/', router);
  app.use(mount || '/', createFlagsUi(ui));
  const application = await listen(app);
  const outer = gateway === undefined ? application : await listen(strip(gateway, addressOf(application)));
  return {
    flags,
    page: `${addressOf(outer)}${gateway ?? ''}${mount}/ui/`,
    async close() {
      router.close();
      for (const server of [outer, application]) {
        server.closeAllConnections();
        server.close();
      }
      await flags.close();
    },
  };
}

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A typical gateway: it removes a prefix of the path, and keeps the host. */
function strip(prefix: string, target: string): RequestListener {
  return (request, response) => {
    const { method, headers, url = '/' } = request;
    if (!url.startsWith(prefix)) return void response.writeHead(404).end();
    const onward = forward(target + url.slice(prefix.length), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  };
}

/**
 * Chooses a radio button with the keyboard. A preview that arrives can move the button while the mouse is pressed, and
 * then nothing is chosen.
 */
export async function choose(radio: ReturnType<Visit['page']['locator']>): Promise<void> {
  await radio.press('Space');
  await until(() => radio.isChecked());
}

/** The flags of a shop. */
export async function seed({ flags }: Pick<Host, 'flags'>, count = 3): Promise<void> {
  const names = ['checkout', 'dark-mode', 'old-banner'];
  const all = Array.from({ length: count }, (_, index) => names[index] ?? `flag-${String(index).padStart(5, '0')}`);
  for (let first = 0; first < count; first += 500) {
    const batch = all.slice(first, first + 500);
    await flags.apply(
      batch.map((name) => ({
        op: 'createFlag',
        ref: { project: 'default' },
        input: { name, description: `What ${name} does` },
      })),
    );
  }
  for (const [index, flag] of names.entries()) {
    for (const environment of ['development', 'production']) {
      const ref = { project: 'default', flag, environment };
      const parameters = { rollout: environment === 'production' ? 25 : 100, stickiness: 'default', groupId: flag };
      await flags.addStrategy(ref, { name: 'flexibleRollout', parameters });
      if (index === 0) await flags.enable(ref);
    }
  }
}
