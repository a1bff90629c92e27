import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Flags } from '@flags/core';
import type { Express } from 'express';
import { serve } from '../../../follower/test/servers.js';
import { type FetchHandler, toFetchHandler } from '../../src/adapters/fetch.js';
import { toNodeHandler } from '../../src/adapters/node.js';
import type { Actor } from '../../src/auth/auth.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import type { ExpressVersion } from '../express-versions.js';
import { type Place, startFollowers } from '../followers.js';
import { createHostApp } from '../host-app.js';
import { NOW } from './states.js';

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
  /** Releases what the adapter has started. */
  readonly stop?: () => Promise<void>;
}

/** Rows of people name the user in this header. All others have a token. */
export const USER_HEADER = 'x-user';

type Authenticated<Native> = { readonly session: (request: Native) => Actor | null; readonly tokens: true };

function peopleAndTokens<Native>(userOf: (request: Native) => unknown): Authenticated<Native> {
  const session = (request: Native) => {
    const name = userOf(request);
    return typeof name === 'string' ? { name } : null;
  };
  return { session, tokens: true };
}

const userOfNode = ({ headers }: IncomingMessage) => headers[USER_HEADER];
const userOfFetch = ({ headers }: Request) => headers.get(USER_HEADER);

export function expressAdapter(version: ExpressVersion): Adapter {
  return {
    title: `Express ${version.major}`,
    mount: (flags) => createHostApp({ version, sessions: { auth: peopleAndTokens(userOfNode) }, engine: flags }),
  };
}

export const NODE_ADAPTER: Adapter = {
  title: 'node:http',
  async mount(flags) {
    const faults: unknown[] = [];
    const onUnexpectedError = (error: unknown) => void faults.push(error);
    const handler = toNodeHandler(createFlagsApi(flags, { auth: peopleAndTokens(userOfNode) }), { onUnexpectedError });
    return { app: createServer((request, response) => void handler(request, response)), faults };
  },
};

export const FETCH_ADAPTER: Adapter = {
  title: 'the Fetch API',
  async mount(flags) {
    const ip = () => '127.0.0.1';
    return { app: toFetchHandler(createFlagsApi(flags, { auth: peopleAndTokens(userOfFetch) }), { ip }), faults: [] };
  },
};

/** Routes for SDKs, served by a follower. Each answer is that of the latest state, and its report has arrived. */
export function followerAdapter(place: Place): Adapter {
  return {
    title: place,
    async mount(flags) {
      const root = await serve(flags);
      const followers = await startFollowers({ ...root, flags, now: () => Date.parse(NOW), interval: 0 }, place);
      const app = async (request: Request) => {
        await followers.untilCurrent();
        const { method, headers } = request;
        const body = method === 'GET' ? null : await request.text();
        const { pathname, search } = new URL(request.url);
        const response = await fetch(`${followers.url}${pathname}${search}`, { method, headers, body });
        if (response.ok && /(register|metrics|bulk)$/.test(pathname)) await followers.close();
        return response;
      };
      const stop = async () => {
        await followers.stop();
        await root.stop();
      };
      return { app, faults: [], stop };
    },
  };
}
