import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request that the benchmark repeats. */
export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** Sends one request, and reads its answer. */
export async function exchange(origin: string, { method, path, headers = {}, body }: SentRequest): Promise<Answer> {
  const request = sendRequest(origin + path, { method, headers }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode = 0, headers: sent } = response;
  return { status: statusCode, contentType: sent['content-type'], etag: sent.etag, body: await buffer(response) };
}
