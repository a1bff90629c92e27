import type { ServerResponse } from 'node:http';

/** An answer, ready to be written. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; absent: no body. */
  readonly text?: string;
}

export interface ReplyContent {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export function jsonReply({ status, headers = {}, body }: ReplyContent): Reply {
  if (body === undefined) return { status, headers };
  const text = JSON.stringify(body);
  return { status, headers: { ...headers, 'content-type': 'application/json; charset=utf-8' }, text };
}

/** Writes by Node's own means, so that no setting of the host application (`etag`, `json spaces`, …) changes it. */
export function writeReply(response: ServerResponse, { status, headers, text }: Reply): void {
  // The host may have answered meanwhile, with a timeout for example.
  if (response.headersSent) return;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 304) response.setHeader('content-length', Buffer.byteLength(text ?? ''));
  response.end(text);
}
