import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';

/** A request that the benchmark repeats. */
export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request, and returns the values that the next ones depend on. */
export async function exchange(
  origin: string,
  { method, path, headers = {}, body }: SentRequest,
): Promise<{ readonly status: number; readonly etag: string | undefined }> {
  const request = sendRequest(origin + path, { method, headers }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return { status: response.statusCode ?? 0, etag: response.headers.etag };
}
