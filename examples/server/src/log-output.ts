import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/** The bytes of log that wait for a reader before further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
const STDOUT = 1;

/**
 * The output of the log. Writing never blocks and never throws: lines that cannot be written are dropped and counted.
 */
export interface LogOutput {
  write(line: string): void;
  /** Resolves when everything written so far has left the process, at the latest after this many milliseconds. */
  flush(timeout: number): Promise<void>;
}

/**
 * The log on standard output. A pipe that nobody reads must not stop the server: a blocking write would. The line
 * "log lines dropped" shows a later reader how many are missing.
 */
export function openLogOutput(): LogOutput {
  // Pipes and terminals are sockets. fstatSync would work too, but in Node 20 an fstatSync of a pipe makes the next
  // require leave symbolic links unresolved.
  return process.stdout instanceof Socket ? streamOutput(process.stdout) : fileOutput(STDOUT);
}

/** Passes lines to a stream. A bounded amount waits in the stream's buffer. */
export function streamOutput(stream: Writable, maxWaiting = MAX_WAITING_BYTES): LogOutput {
  let dropped = 0;
  let isBroken = false;
  const writeNotice = () => {
    if (dropped > 0) stream.write(droppedNotice(dropped));
    dropped = 0;
  };
  // Once lines are dropped, half of the buffer has to empty before others follow: gaps are few and long, not many and short.
  const hasRoom = (bytes: number) => stream.writableLength + bytes <= (dropped > 0 ? maxWaiting / 2 : maxWaiting);
  stream.on('drain', writeNotice);
  // The reader has closed the pipe (EPIPE), and there cannot be another one. Without a listener, the error would end
  // the process.
  stream.on('error', () => {
    isBroken = true;
  });
  return {
    write(line) {
      if (isBroken || !hasRoom(Buffer.byteLength(line))) {
        dropped += 1;
        return;
      }
      writeNotice();
      stream.write(line);
    },
    async flush(timeout) {
      if (isBroken) return;
      writeNotice();
      const written = new Promise<void>((resolve) => stream.write('', () => resolve()));
      await Promise.race([written, setTimeout(timeout, undefined, { ref: false })]);
    },
  };
}

/** Writes each line at once. A write to a file succeeds, or fails on a full disk. */
export function fileOutput(file: number): LogOutput {
  let dropped = 0;
  return {
    write(line) {
      try {
        writeSync(file, dropped > 0 ? droppedNotice(dropped) + line : line);
        dropped = 0;
      } catch {
        dropped += 1;
      }
    },
    flush: async () => {},
  };
}

function droppedNotice(dropped: number): string {
  const fields = { level: 40, time: new Date().toISOString(), dropped, msg: 'log lines dropped' };
  return `${JSON.stringify(fields)}\n`;
}
