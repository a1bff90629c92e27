import { connect, type Socket } from 'node:net';

/** A connection on which a test writes bytes. */
export interface RawConnection {
  write(text: string): void;
  /** Ends the writing side, and continues to read. */
  halfClose(): void;
  /** Destroys the connection. */
  breakOff(): void;
  received(): string;
  isClosed(): boolean;
}

export function openRaw(port: number): Promise<RawConnection> {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  let closed = false;
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  socket.on('close', () => {
    closed = true;
  });
  return new Promise((resolve) => {
    socket.on('connect', () =>
      resolve({
        write: (text) => void socket.write(text),
        halfClose: () => void socket.end(),
        breakOff: () => void socket.resetAndDestroy(),
        received: () => received,
        isClosed: () => closed,
      }),
    );
  });
}

/** The text of a request that creates a flag. */
export function creation(name: string): string {
  const body = JSON.stringify({ name });
  const head = ['POST /api/admin/projects/default/features HTTP/1.1', 'host: localhost', 'connection: keep-alive'];
  return [...head, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n');
}
