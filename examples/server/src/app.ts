import type { Flags } from '@flags/core';
import type { Follower } from '@flags/follower';
import { createFlagsUi } from '@flags/ui';
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { type Metrics, type MetricsAccess, metricsRoute, requestMetrics } from './metrics.js';
import { logFault, requestIdOf, requestLog } from './request-log.js';

interface Parts<Served> {
  readonly flags: Served;
  readonly router: RequestHandler;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Who may read the metrics. */
  readonly access: Pick<MetricsAccess, 'auth' | 'metricsToken'>;
}

/** The application of a storage: probes, metrics, the router of the flags, the admin page, and an answer for everything else. */
export function createApp(parts: Parts<Flags>): Express {
  const { flags, router, metrics, access } = parts;
  const isAdmin = async (secret: string) => (await flags.verifyToken(secret))?.kind === 'admin';
  const app = begin(parts);
  app.get(['/health', '/ready'], health(flags));
  app.get('/metrics', metricsRoute(metrics, { ...access, isAdmin }));
  app.use(router);
  app.use(createFlagsUi());
  app.get('/', (_request, response) => response.redirect('ui/'));
  return withEnd(app, 'There is nothing here. The API is at /api/admin, the admin page at /ui.');
}

/** The application of a follower: probes, metrics, the routes of SDKs, and an answer for everything else. */
export function createFollowerApp(parts: Parts<Follower>): Express {
  const { flags, router, metrics, access } = parts;
  const app = begin(parts);
  app.get(['/health', '/ready'], followerHealth(flags));
  app.get('/metrics', metricsRoute(metrics, access));
  app.use(router);
  return withEnd(app, `There is nothing here. This is a follower: SDKs use /api/client, /api/frontend and /ofrep.`);
}

/** What both applications begin with: the log, the measurement of requests, and the answer that the process runs. */
function begin({ logger, metrics }: Pick<Parts<unknown>, 'logger' | 'metrics'>): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requestLog(logger), requestMetrics(metrics));
  app.get('/live', (_request, response) => void response.json({ status: 'ok' }));
  return app;
}

/** Adds the answers to what nothing else answers. */
function withEnd(app: Express, message: string): Express {
  app.use((_request, response) => {
    response.status(404).json({ name: 'NotFoundError', message });
  });
  app.use(answerFault);
  return app;
}

/** A follower is healthy while it serves, also from old flags: taken out of service, it would serve nobody. */
function followerHealth(flags: Follower) {
  return (_request: Request, response: Response): void => {
    try {
      flags.following.assertServing();
      const { state, checkedAt } = flags.status();
      response.json({ status: 'ok', flags: state, checkedAt });
    } catch (error) {
      logFault(response, error);
      response.status(503).json({ status: 'unavailable' });
    }
  };
}

/** The server is healthy if its storage returns a small document, and the changes of other processes. */
function health(flags: Flags) {
  return async (_request: Request, response: Response): Promise<void> => {
    try {
      await flags.listMembers({ project: 'default' });
      const { state, error } = await flags.refresh();
      if (state === 'stale') throw error;
      response.json({ status: 'ok' });
    } catch (error) {
      logFault(response, error);
      response.status(503).json({ status: 'unavailable' });
    }
  };
}

/** Errors that the router has answered itself: the request's log line has the cause. */
export function noteFault(error: Error, { res: response }: Request): void {
  if (response !== undefined) logFault(response, error);
}

/** Unhandled errors: the request's log line has the cause, the reply only the line's id. */
function answerFault(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  logFault(response, error);
  if (response.headersSent) {
    next(error);
    return;
  }
  const status = statusOf(error);
  const message = status < 500 ? 'The request cannot be understood.' : 'The server failed; its log has the cause.';
  response
    .status(status)
    .json({ name: status < 500 ? 'BadDataError' : 'InternalError', message, id: requestIdOf(response) });
}

/** Express sets a status on errors of the caller, such as a malformed URL. */
function statusOf(error: unknown): number {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}
