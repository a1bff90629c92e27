import { connect, type Socket } from 'node:net';

/** A client that reads only on demand. */
export interface SlowReader {
  /** Reads until it has this many bytes in total, or is disconnected. */
  readTo(bytes: number): Promise<void>;
  /** Reads everything from now on. */
  readAll(): void;
  /** Bytes read so far. */
  taken(): number;
  /** The last part of the read bytes. */
  tail(): string;
  isCutOff(): boolean;
  leave(): void;
}

/** Sends a request, and reads nothing of the answer. */
export function requestWithoutReading(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<SlowReader> {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  let taken = 0;
  let wanted = 0;
  let tail = '';
  let cutOff = false;
  let wake: () => void = () => undefined;
  socket.pause();
  socket.on('data', (chunk) => {
    taken += chunk.length;
    tail = (tail + chunk.toString('latin1')).slice(-200);
    if (taken < wanted) return;
    socket.pause();
    wake();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    cutOff = true;
    wake();
  });
  const reader: SlowReader = {
    readTo(bytes) {
      wanted = bytes;
      return new Promise((resolve) => {
        wake = resolve;
        if (cutOff) resolve();
        socket.resume();
      });
    },
    readAll() {
      wanted = Number.POSITIVE_INFINITY;
      socket.resume();
    },
    taken: () => taken,
    tail: () => tail,
    isCutOff: () => cutOff,
    leave: () => void socket.destroy(),
  };
  return new Promise((resolve) => {
    socket.on('connect', () => {
      const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      resolve(reader);
    });
  });
}
