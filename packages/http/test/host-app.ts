import { type Flags, type FlagsOptions, memoryStorage, openFlags } from '@flags/core';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import {
  type Actor,
  createFlagsRouter,
  type FlagsRouterOptions,
  type SessionRouterOptions,
} from '../../express/src/index.js';
import { EXPRESS_5, type ExpressVersion } from './express-versions.js';

export const FLAGS = '/api/admin/projects/default/features';

/** How a host embeds the router; everything has a default. */
export interface HostOptions<A extends Actor> {
  readonly version?: ExpressVersion;
  readonly router?: FlagsRouterOptions<A>;
  /** Instead of `router`: for people and tokens. */
  readonly sessions?: SessionRouterOptions<A>;
  readonly flags?: Partial<FlagsOptions>;
  /** Instead of the options of an engine: an engine. */
  readonly engine?: Flags;
  /** Middleware of the host's, before the router. */
  readonly before?: readonly RequestHandler[];
  readonly mount?: string;
}

export interface HostApp {
  readonly app: Express;
  readonly flags: Flags;
  /** The errors that reached the host's error handler. */
  readonly faults: readonly unknown[];
}

/** A host application around the router, with an error handler that records errors. */
export async function createHostApp<A extends Actor = Actor>(options: HostOptions<A> = {}): Promise<HostApp> {
  const { version = EXPRESS_5, router, sessions, before = [], mount = '/' } = options;
  const flags = options.engine ?? (await openFlags({ storage: memoryStorage(), ...options.flags }));
  const faults: unknown[] = [];
  const app = version.express();
  for (const middleware of before) app.use(middleware);
  if (sessions) app.use(mount, createFlagsRouter(flags, sessions));
  else app.use(mount, router ? createFlagsRouter(flags, router) : createFlagsRouter(flags, { auth: 'none' }));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    faults.push(error);
    response.status(500).json({ fault: String(error) });
  });
  return { app, flags, faults };
}
