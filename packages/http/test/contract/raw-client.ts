import { connect } from 'node:net';

export interface RawRequest {
  readonly method: string;
  /** Written as it is, without any encoding. */
  readonly path: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

export interface RawAnswer {
  /** Undefined when the connection was closed without an answer. */
  readonly status: number | undefined;
  readonly text: string;
}

/** `stay`: reads until the server closes. `leave`: stops sending, as a client that goes away in the middle. */
export type Ending = 'stay' | 'leave';

/** A longer wait counts as no answer. */
const PATIENCE = 20_000;

/** Writes a request to a server byte by byte as given, and waits until the server closes the connection. */
export function askRaw(port: number, request: RawRequest, ending: Ending = 'stay'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket.setTimeout(PATIENCE, () => {
      reject(new Error(`No answer to ${request.method} ${request.path} within ${PATIENCE} ms.`));
      socket.destroy();
    });
    socket.on('data', (part) => parts.push(part));
    // A server may refuse and close while the rest of a request is still being sent.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answerIn(Buffer.concat(parts).toString('utf8'))));
    for (const bytes of bytesOf(request)) socket.write(bytes);
    if (ending === 'leave') socket.end();
  });
}

function bytesOf({ method, path, headers = [], body = '' }: RawRequest): readonly Uint8Array[] {
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const named = headers.map(([name]) => name.toLowerCase());
  const length = named.includes('content-length') || named.includes('transfer-encoding') ? [] : lengthOf(content);
  const lines = [...headers, ...length, ['host', 'localhost'], ['connection', 'close']];
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  return [Buffer.from(head, 'latin1'), content];
}

function lengthOf({ length }: Uint8Array): readonly (readonly [string, string])[] {
  return length === 0 ? [] : [['content-length', `${length}`]];
}

function answerIn(text: string): RawAnswer {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  const body = text.indexOf('\r\n\r\n');
  return { status: status === undefined ? undefined : Number(status), text: body === -1 ? '' : text.slice(body + 4) };
}
