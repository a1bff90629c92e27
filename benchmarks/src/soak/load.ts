import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { type MixedRequest, nextRequest } from './requests.js';
import { keepStreaming, type Streams } from './streams.js';

const WORKERS = 10;
const STREAMS = 40;

/** The results of the requests. */
export interface LoadOutcome {
  readonly answered: number;
  /** By status; `0` is a connection that broke. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly streams: { readonly begun: number; readonly messages: number };
}

export interface Load {
  /** Requests per second when each worker sends the next as soon as it has the answer. */
  measure(milliseconds: number): Promise<number>;
  /** Continues with this many requests per second. */
  hold(rate: number): void;
  progress(): LoadOutcome;
  stop(): Promise<LoadOutcome>;
}

/** Puts servers of one storage under load in turns. */
export function startLoad(origins: readonly string[]): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
  const statuses = new Map<number, number>();
  let answered = 0;
  let ordinal = 0;
  let rate = Number.POSITIVE_INFINITY;
  let running = true;

  async function send(mixed: MixedRequest): Promise<void> {
    const origin = origins[ordinal++ % origins.length] ?? '';
    const status = await statusOf(agent, origin, mixed);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    answered += 1;
  }

  async function work(): Promise<void> {
    while (running) {
      const started = performance.now();
      await send(nextRequest(ordinal));
      const rest = (1000 * WORKERS) / rate - (performance.now() - started);
      if (rest > 0) await setTimeout(rest);
    }
  }

  const workers = Array.from({ length: WORKERS }, work);
  const streams: Streams = keepStreaming(origins, STREAMS);
  const progress = () => ({ answered, statuses, streams: streams.progress() });

  return {
    async measure(milliseconds) {
      const [before, started] = [answered, performance.now()];
      await setTimeout(milliseconds);
      return ((answered - before) * 1000) / (performance.now() - started);
    },
    hold: (wanted) => {
      rate = wanted;
    },
    progress,
    async stop() {
      running = false;
      await Promise.all(workers);
      streams.stop();
      agent.destroy();
      return progress();
    },
  };
}

function statusOf(agent: Agent, origin: string, { method, path, body }: MixedRequest): Promise<number> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers =
    text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve) => {
    const sent = request(`${origin}${path}`, { method, agent, headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    // A server closes connections that were idle for some seconds, sometimes while the next request is sent.
    sent.on('error', () => resolve(sent.reusedSocket ? statusOf(agent, origin, { method, path, body }) : 0));
    sent.end(text);
  });
}
