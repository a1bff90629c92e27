import autocannon from 'autocannon';
import type { SentRequest } from './exchange.js';
import type { ServerProcess } from './server-process.js';

/** The result of one round. */
export interface Round {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Microseconds of the server's processor time per request. */
  readonly processorTime: number;
}

export interface Load {
  readonly server: Pick<ServerProcess, 'origin' | 'processorTime'>;
  /** The next request. */
  readonly next: () => SentRequest;
  readonly status: number;
  readonly seconds: number;
}

const CONNECTIONS = 10;

/**
 * Sends requests on ten connections, each one after the response to the previous one.
 *
 * @throws Error when any answer has another status, or if there is none
 */
export async function load({ server, next, status, seconds }: Load): Promise<Round> {
  const processorTime = await server.processorTime();
  const began = performance.now();
  const result = await autocannon({
    url: server.origin,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 100,
    requests: [{ setupRequest: (defaults) => ({ ...defaults, ...next() }) }],
  });
  const took = (performance.now() - began) / 1000;
  const used = (await server.processorTime()) - processorTime;
  const answers = result.requests.total;
  const statuses = Object.keys(result.statusCodeStats ?? {});
  if (result.errors > 0 || answers === 0 || statuses.some((one) => one !== String(status))) {
    throw new Error(`${status} was expected, not ${statuses.join(', ')} with ${result.errors} errors`);
  }
  return { requestsPerSecond: answers / took, p99: result.latency.p99, processorTime: used / answers };
}
