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
  /** Default: 10. */
  readonly connections?: number;
}

/**
 * Sends requests on some connections, each one after the response to the previous one.
 *
 * @throws Error when any answer has another status, or if there is none
 */
export async function load({ server, next, status, seconds, connections = 10 }: Load): Promise<Round> {
  const processorTime = await server.processorTime();
  const began = performance.now();
  const result = await autocannon({
    url: server.origin,
    connections,
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
