import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';

/** Logs one line per request. Headers are left out, and secrets in a path are hidden: nobody gets in by the log. */
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
    url: withoutSecret(request.originalUrl ?? request.url ?? ''),
    remoteAddress: request.socket.remoteAddress,
  };
}

function responseFields(response: ServerResponse) {
  return { statusCode: response.statusCode };
}

/** `DELETE /api/admin/api-tokens/…` may name a token by its secret; one that is made has 48 hexadecimal digits, anywhere. */
function withoutSecret(url: string): string {
  return url.replace(/(\/api(?:-|%2d)tokens\/).*/i, '$1[hidden]').replaceAll(/[0-9a-f]{40,}/gi, '[hidden]');
}

function level(status: number, error: Error | undefined): 'info' | 'error' {
  return error !== undefined || status >= 500 ? 'error' : 'info';
}
