import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { redactUrl } from '@flags/express';
import type { Logger } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';

/** Logs one line per request. Omits headers, and hides secrets in paths, so that the log contains no credentials. */
export function requestLog(logger: Logger): HttpLogger {
  return pinoHttp({
    logger,
    genReqId: () => randomUUID(),
    wrapSerializers: false,
    serializers: { req: requestFields, res: responseFields },
    customLogLevel: (_request, response, error) => level(response.statusCode, error),
  });
}

function requestFields(request: IncomingMessage & { readonly originalUrl?: string }) {
  return {
    id: request.id,
    method: request.method,
    url: redactUrl(request.originalUrl ?? request.url ?? ''),
    remoteAddress: request.socket.remoteAddress,
  };
}

function responseFields(response: ServerResponse) {
  return { statusCode: response.statusCode };
}

function level(status: number, error: Error | undefined): 'info' | 'error' {
  return error !== undefined || status >= 500 ? 'error' : 'info';
}
