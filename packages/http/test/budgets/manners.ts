import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { extent } from '../../../../test/extent.js';

/**
 * A request that is silent for this time, in milliseconds, has stalled the process permanently. In a full heap, 64
 * evaluations of 10,000 flags take a minute together.
 */
export const PATIENCE = 180_000;
/** A stream that is silent for this time, in milliseconds, has sent everything. */
const SILENCE = 300;
/** How long clients are slow, in milliseconds: in the full form longer than the patience of the server. */
const SLOWNESS = extent({ short: 300, full: 7000 });
/** The size that a slow client reads at a time, in bytes, and how often, in milliseconds. */
const LITTLE = 16 * 1024;
const LITTLE_INTERVAL = 100;
/** How much of a body a client sends that never sends the rest, as a share. */
const SENT_SHARE = 0.7;

/**
 * How a client behaves that is not a good one. `takes nothing`, `takes little`: it reads its answer slowly for a while.
 * `half-sent`: it sends a part of its body, and leaves after a while. `pipelined`: it sends all requests in one
 * connection, without waiting for answers.
 */
export type Manner = 'takes nothing' | 'takes little' | 'half-sent' | 'pipelined';

/** A request to send. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The response does not end: it is read until it is silent. */
  readonly isEndless?: boolean;
  readonly manner?: Manner | undefined;
  /** How often it is sent in one connection. */
  readonly repetitions?: number;
}

export interface Answer {
  /**
   * `silent`: no answer in time. `reset`: the connection ended without one. `died`: the process ended. `left`: the client
   * has left, as it meant to, or was disconnected because it was slow.
   */
  readonly status: number | 'silent' | 'reset' | 'died' | 'left';
  /** Of the body. */
  readonly bytes: number;
  /** The answer has the header `Retry-After`. */
  readonly isRetryable: boolean;
  /** Until the answer was read, in milliseconds. */
  readonly time: number;
}

/** Sends a request in its manner, and resolves when the answer is read or the client has left. */
export async function send(port: number, sent: Sent): Promise<Answer> {
  const begun = performance.now();
  const answer = sent.manner === 'half-sent' || sent.manner === 'pipelined' ? sendRaw : ask;
  return { ...(await answer(port, sent)), time: performance.now() - begun };
}

type Untimed = Omit<Answer, 'time'>;

function ask(port: number, { method, path, headers, body, isEndless, manner }: Sent): Promise<Untimed> {
  return new Promise((resolve) => {
    let bytes = 0;
    let isRetryable = false;
    let status: Answer['status'] = 'reset';
    const asked = request({ port, host: '127.0.0.1', method, path, headers, agent: false });
    let timer = setTimeout(() => finish('silent'), PATIENCE);

    function finish(outcome: Answer['status']): void {
      clearTimeout(timer);
      asked.destroy();
      resolve({ status: outcome, bytes, isRetryable });
    }

    asked.on('response', (response) => {
      status = response.statusCode ?? 'reset';
      isRetryable = response.headers['retry-after'] !== undefined;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        clearTimeout(timer);
        timer = isEndless ? setTimeout(() => finish(status), SILENCE) : setTimeout(() => finish('silent'), PATIENCE);
      });
      response.on('end', () => finish(status));
      response.on('error', () => finish(manner ? 'left' : 'reset'));
      if (manner) void readSlowly(asked, response, manner);
    });
    // A refusal may close the connection while the body is still being sent.
    asked.on('error', () => finish(status));
    asked.end(body);
  });
}

/** Reads nothing or little for a while, then the rest. */
async function readSlowly(asked: ClientRequest, response: IncomingMessage, manner: Manner): Promise<void> {
  const end = performance.now() + SLOWNESS;
  response.pause();
  if (manner === 'takes nothing') await pause(SLOWNESS);
  while (performance.now() < end && !asked.destroyed) {
    response.read(Math.min(LITTLE, response.readableLength));
    await pause(LITTLE_INTERVAL);
  }
  response.resume();
}

/** Writes the request, as often as it is repeated, into one connection. Returns the last status, or one that is wrong. */
function sendRaw(port: number, sent: Sent): Promise<Untimed> {
  const isHalf = sent.manner === 'half-sent';
  const expected = isHalf ? Number.POSITIVE_INFINITY : (sent.repetitions ?? 1);
  return new Promise((resolve) => {
    let bytes = 0;
    let answers = 0;
    let status: Answer['status'] = isHalf ? 'left' : 'reset';
    let isRetryable = false;
    let tail = '';
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(rawBytes(sent)));
    const timer = setTimeout(finish, isHalf ? SLOWNESS : PATIENCE);

    function finish(): void {
      clearTimeout(timer);
      socket.destroy();
      resolve({ status, bytes, isRetryable });
    }

    socket.on('data', (chunk) => {
      bytes += chunk.length;
      const text = tail + chunk.toString('latin1');
      for (const [, code] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        answers++;
        if (typeof status !== 'number' || status < 500) status = Number(code);
      }
      // Shorter than a match, which may be split.
      tail = text.slice(-12);
      if (/^retry-after:/im.test(text)) isRetryable = true;
      if (answers >= expected) finish();
    });
    socket.on('error', () => undefined);
    socket.on('close', finish);
  });
}

function rawBytes({ method, path, headers, body = '', manner, repetitions = 1 }: Sent): Uint8Array {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(body);
  const part = manner === 'half-sent' ? bytes.subarray(0, bytes.length * SENT_SHARE) : bytes;
  const one = Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), part]);
  return Buffer.concat(Array.from({ length: repetitions }, () => one));
}
