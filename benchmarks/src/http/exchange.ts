import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request as it is sent, over and over. */
export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back: the parts that both sides must agree on. */
export interface Answer {
  readonly status: number;
  /** The headers that matter: `content-type` and `etag`, where they are there. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const COMPARED = ['content-type', 'etag'];

export async function exchange(origin: string, { method, path, headers = {}, body }: SentRequest): Promise<Answer> {
  const request = sendRequest(origin + path, { method, headers }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const compared = COMPARED.flatMap((name) => {
    const value = response.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(compared), body: await text(response) };
}
