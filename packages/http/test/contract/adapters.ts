import { createServer, type Server } from 'node:http';
import type { Flags } from '@flags/core';
import type { Express } from 'express';
import { type FetchHandler, toFetchHandler } from '../../src/adapters/fetch.js';
import { toNodeHandler } from '../../src/adapters/node.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import type { ExpressVersion } from '../express-versions.js';
import { createHostApp } from '../host-app.js';

/** Where requests of the table are sent: an application of Express, a server of Node, or a handler of the Fetch API. */
export type Target = Express | Server | FetchHandler;

/** One way to mount the HTTP API. */
export interface Adapter {
  readonly title: string;
  readonly mount: (flags: Flags) => Promise<Mounted>;
}

export interface Mounted {
  readonly app: Target;
  /** The errors that the host received. */
  readonly faults: readonly unknown[];
}

export function expressAdapter(version: ExpressVersion): Adapter {
  return {
    title: `Express ${version.major}`,
    mount: (flags) => createHostApp({ version, router: { auth: 'token' }, engine: flags }),
  };
}

export const NODE_ADAPTER: Adapter = {
  title: 'node:http',
  async mount(flags) {
    const faults: unknown[] = [];
    const onUnexpectedError = (error: unknown) => void faults.push(error);
    const handler = toNodeHandler(createFlagsApi(flags, { auth: 'token' }), { onUnexpectedError });
    return { app: createServer((request, response) => void handler(request, response)), faults };
  },
};

export const FETCH_ADAPTER: Adapter = {
  title: 'the Fetch API',
  async mount(flags) {
    const ip = () => '127.0.0.1';
    return { app: toFetchHandler(createFlagsApi(flags, { auth: 'token' }), { ip }), faults: [] };
  },
};
