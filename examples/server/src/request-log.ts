import { randomUUID } from 'node:crypto';
import { redactUrl } from '@flags/express';
import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

/** The members of `response.locals` that the line of a request has. */
interface Logged {
  requestId: string;
  /** Why the server failed. */
  fault?: Error;
}

/**
 * Logs one line per request, when its connection has its response or is closed. Omits headers, and hides secrets in paths,
 * so that the log contains no credentials. Without pino-http, which creates two loggers per request: a cached read takes
 * little more time than that.
 */
export function requestLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const { method, originalUrl } = request;
    const { remoteAddress } = request.socket;
    const started = performance.now();
    const id = randomUUID();
    logged(response).requestId = id;
    response.once('close', () => {
      const { statusCode } = response;
      const { fault } = logged(response);
      const fields = {
        req: { id, method, url: redactUrl(originalUrl), remoteAddress },
        res: { statusCode },
        responseTime: Math.round(performance.now() - started),
      };
      if (fault === undefined && statusCode < 500) logger.info(fields, 'request completed');
      else logger.error({ ...fields, err: fault }, 'request errored');
    });
    next();
  };
}

/** Adds the cause of a failure to the line of its request. */
export function logFault(response: Response, fault: unknown): void {
  logged(response).fault = fault instanceof Error ? fault : new Error(String(fault));
}

/** Returns the id of a request in its line. */
export function requestIdOf(response: Response): string {
  return logged(response).requestId;
}

function logged({ locals }: Response): Logged {
  return locals as Logged;
}
