import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest, get, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { placeAt } from '../population.js';
import { answerQuestions, settingsOfProcess } from './child.js';
import { markerIn } from './marker.js';
import { Receivers } from './receivers.js';

export interface ConnectionSettings {
  readonly urls: readonly string[];
  readonly token: string;
  /** Connections, spread over the addresses. */
  readonly count: number;
  /** Flags in a full state. */
  readonly flags: number;
  /** Milliseconds between two reports of a connection, ± 20 %. */
  readonly usageInterval: number;
  /** Flags in a report. */
  readonly rows: number;
}

/** The pauses before a new connection are those of a follower. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const LINE_BREAK = 0x0a;

const settings = settingsOfProcess<ConnectionSettings>();
const receivers = new Receivers(settings.count);
const agent = new Agent({ keepAlive: true, maxSockets: 20 });
let isClosed = false;
let connected = 0;
let acknowledged = 0;
let failedReports = 0;
const open = new Set<ClientRequest>();

/** Follows like a follower: a resumed stream continues with the next message, and another one begins with everything. */
async function follow(receiver: number): Promise<void> {
  let lastEventId = '';
  let failures = 0;
  while (!isClosed) {
    const begun = Date.now();
    lastEventId = await stream(receiver, lastEventId);
    failures = Date.now() - begun > LONGEST_PAUSE ? 0 : failures + 1;
    await pause(Math.random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures));
  }
}

/** Resolves at the end of the stream with the id of its last message. */
function stream(receiver: number, lastEventId: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: settings.token, ...(lastEventId && { 'last-event-id': lastEventId }) };
    const client = get(`${urlOf(receiver)}/api/client/streaming`, { agent: false, headers });
    open.add(client);
    let last = lastEventId;
    let isOpen = false;
    client.on('error', () => undefined);
    client.on('response', (response) => {
      if (response.statusCode !== 200) client.destroy();
      isOpen = response.statusCode === 200;
      if (isOpen) connected += 1;
      const parts: Buffer[] = [];
      response.on('error', () => undefined);
      response.on('data', (bytes: Buffer) => {
        parts.push(bytes);
        if (bytes.at(-1) !== LINE_BREAK || bytes.at(-2) !== LINE_BREAK) return;
        for (const message of messagesIn(Buffer.concat(parts.splice(0)))) last = receive(receiver, message, last);
      });
    });
    client.on('close', () => {
      open.delete(client);
      if (isOpen) connected -= 1;
      resolve(last);
    });
  });
}

/** Bytes, because texts of a full state would cost this process more than the root. */
function messagesIn(bytes: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n\n', start);
    messages.push(bytes.subarray(start, end));
    start = end + 2;
  }
  return messages;
}

function occurrencesIn(bytes: Buffer, text: string): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found += 1;
  return found;
}

/** Checks a message, and returns the id of the last one. */
function receive(receiver: number, message: Buffer, last: string): string {
  const head = message.toString('latin1', 0, 200);
  const id = /^id: ?(.+)$/m.exec(head)?.[1];
  if (id === undefined) return last;
  if (head.includes('event:unleash-connected')) {
    const found = occurrencesIn(message, '"name":"flag-');
    if (found !== settings.flags) receivers.report(`receiver ${receiver} gets ${found} flags`);
    if (receiver % 50 === 0) assertJson(receiver, message);
  } else {
    assertJson(receiver, message);
    const [channel, number] = id.split('-');
    if (last !== `${channel}-${Number(number) - 1}`) receivers.report(`receiver ${receiver} gets ${id} after ${last}`);
  }
  const change = markerIn(message);
  if (change !== undefined) receivers.note(receiver, change);
  return id;
}

function assertJson(receiver: number, message: Buffer): void {
  try {
    JSON.parse(message.toString('utf8', message.indexOf('data:') + 5));
  } catch {
    receivers.report(`receiver ${receiver} cannot read a message of ${message.length} bytes`);
  }
}

/** Reports counts until they are acknowledged, like a follower. */
async function report(receiver: number): Promise<void> {
  const interval = () => settings.usageInterval * (0.8 + 0.4 * Math.random());
  await pause(Math.random() * settings.usageInterval);
  while (!isClosed) {
    const [body, id] = [reportOf(settings.rows), randomUUID()];
    while (!(await post(urlOf(receiver), { body, id }))) {
      failedReports += 1;
      await pause(Math.random() * 2_000);
      if (isClosed) return;
    }
    acknowledged += settings.rows;
    await pause(interval());
  }
}

function reportOf(rows: number): string {
  const about = { appName: 'connection', environment: 'production', timestamp: new Date().toISOString() };
  const metrics = Array.from({ length: rows }, (_, at) => ({
    ...about,
    featureName: placeAt(at).flag,
    yes: 1,
    no: 0,
    variants: {},
  }));
  return JSON.stringify({ applications: [], metrics });
}

function post(url: string, { body, id }: { readonly body: string; readonly id: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: settings.token, 'content-type': 'application/json', 'idempotency-key': id };
    const client = send(`${url}/api/client/metrics/bulk`, { method: 'POST', agent, headers });
    client.on('error', () => resolve(false));
    client.on('response', (response) => {
      response.resume();
      response.on('error', () => undefined);
      response.on('close', () => resolve(response.complete && (response.statusCode ?? 500) < 300));
    });
    client.end(body);
  });
}

function urlOf(receiver: number): string {
  return settings.urls[receiver % settings.urls.length] ?? '';
}

for (let receiver = 0; receiver < settings.count; receiver++) {
  void follow(receiver);
  if (settings.usageInterval > 0) void report(receiver);
}

async function close(): Promise<void> {
  isClosed = true;
  for (const client of open) client.destroy();
}

answerQuestions(
  {
    progress: () => receivers.progress(),
    take: () => receivers.take(),
    connected: () => connected,
    /** Ends the connections. Returns the number of acknowledged counts. */
    close: async () => {
      isClosed = true;
      // A report that is on the way is acknowledged first.
      await pause(3_000);
      await close();
      return acknowledged;
    },
    failedReports: () => failedReports,
  },
  close,
);
