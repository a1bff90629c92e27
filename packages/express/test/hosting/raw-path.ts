import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** Requests a path exactly as it is written; other clients normalize it. */
export async function requestRaw(port: number, path: string): Promise<{ status: number | undefined; body: string }> {
  const sent = request({ port, host: '127.0.0.1', path, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const part of response) body += part;
  return { status: response.statusCode, body };
}
