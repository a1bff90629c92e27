import { type FlagsError, isFlagsError } from '@flags/core';
import type { Request, RequestHandler, Response } from 'express';
import { errorReply } from './error-reply.js';
import { HostFault } from './errors.js';
import { type Reply, writeReply } from './reply.js';
import type { RouteLookup } from './routing.js';

/** Answers a request, or passes it on to whatever comes next (undefined). */
export type Answer = (request: Request, response: Response) => Promise<Reply | undefined>;

export interface HandlerParts {
  readonly findRoutes: RouteLookup;
  readonly onError: (error: FlagsError, request: Request) => void;
}

/**
 * Makes an Express handler that answers what is refused itself and gives faults to the host's error handler. Express 4
 * does not catch rejections, so none gets past.
 */
export function createHandler(answer: Answer, { findRoutes, onError }: HandlerParts): RequestHandler {
  return (request, response, next) => {
    const settle = (reply: Reply | undefined) =>
      reply === undefined ? next() : writeReply(response, reply).catch(reportLate);
    // The connection is closed by now: the host is told, and has nothing to answer.
    const reportLate = (error: unknown) => (isFlagsError(error) ? onError(error, request) : next(faultOf(error)));
    const refuse = (error: unknown) => {
      const found = findRoutes(request.path).find(({ route }) => route.method === request.method);
      const reply = errorReply(error, {
        route: found?.route,
        params: request.params as Readonly<Record<string, string>>,
      });
      if (reply === undefined) return next(faultOf(error));
      if (reply.status >= 500 && isFlagsError(error)) onError(error, request);
      return writeReply(response, reply);
    };
    answer(request, response)
      .then(settle, refuse)
      .catch((error) => next(faultOf(error)));
  };
}

/** Express takes some values that are thrown for signals of its own (undefined, `'router'`), and would go on. */
function faultOf(error: unknown): object {
  if (error instanceof HostFault) return faultOf(error.thrown);
  return typeof error === 'object' && error !== null ? error : new Error(`Thrown: ${String(error)}`, { cause: error });
}
