import { createHash, timingSafeEqual } from 'node:crypto';
import { isFlagsError } from '@flags/core';
import type { MeterProvider as MeterProviderApi } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, type MetricData, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { Request, RequestHandler, Response } from 'express';
import type { ServerConfig } from './config.js';
import { logFault } from './request-log.js';

/** The metrics of this process. */
export interface Metrics {
  readonly meterProvider: MeterProviderApi;
  /** Collects the metrics, and returns them in the text format of Prometheus. */
  read(): Promise<string>;
}

/** Collects on request only. */
class PullReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function createMetrics(): Metrics {
  const reader = new PullReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  // Prometheus names the target itself.
  const serializer = new PrometheusSerializer(undefined, false, undefined, true);
  return {
    meterProvider,
    async read() {
      // What cannot be observed within some seconds, such as the lag while the storage is away, is missing.
      const { resourceMetrics } = await reader.collect();
      return serializer.serialize(withUnits(resourceMetrics));
    },
  };
}

const SUFFIXES: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

/** Adds the units to the names, as OpenTelemetry specifies for Prometheus, and its collector does. The serializer does not. */
function withUnits(metrics: ResourceMetrics): ResourceMetrics {
  const scopeMetrics = metrics.scopeMetrics.map((scope) => ({ ...scope, metrics: scope.metrics.map(withUnit) }));
  return { ...metrics, scopeMetrics };
}

function withUnit(metric: MetricData): MetricData {
  const { descriptor } = metric;
  const suffix = SUFFIXES[descriptor.unit];
  if (suffix === undefined) return metric;
  return { ...metric, descriptor: { ...descriptor, name: `${descriptor.name}.${suffix}` } };
}

/** Methods that are labels; callers may send others. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** In seconds, by OpenTelemetry's semantic conventions. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Measures each request by OpenTelemetry's semantic conventions, streams included. */
export function requestMetrics({ meterProvider }: Metrics): RequestHandler {
  const duration = meterProvider.getMeter('@flags/example-server').createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests.',
    unit: 's',
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  return (request, response, next) => {
    const start = performance.now();
    response.once('close', () => {
      const { method } = request;
      const status = response.headersSent ? response.statusCode : undefined;
      duration.record((performance.now() - start) / 1000, {
        'http.request.method': METHODS.has(method) ? method : '_OTHER',
        'url.scheme': 'http',
        ...(status !== undefined && { 'http.response.status_code': status }),
        ...(status !== undefined && status >= 500 && { 'error.type': `${status}` }),
      });
    });
    next();
  };
}

/** Who may read the metrics. */
export interface MetricsAccess extends Pick<ServerConfig, 'auth' | 'metricsToken'> {
  /** Whether this is the secret of an admin token. Followers have no such tokens. */
  readonly isAdmin?: (secret: string) => Promise<boolean>;
}

/** Answers a scrape. The token for metrics is compared without the storage, so that metrics can be read while it is away. */
export function metricsRoute(metrics: Metrics, access: MetricsAccess): RequestHandler {
  return async (request, response) => {
    try {
      if (access.auth === 'token' && !(await isAllowed(request, access))) {
        refuse(response.status(401).set('www-authenticate', 'Bearer'), {
          name: 'AuthenticationRequired',
          code: 'unauthenticated',
          message: `Send ${access.isAdmin ? 'an admin token, or ' : ''}the token in FLAGS_METRICS_TOKEN, in the header Authorization.`,
        });
        return;
      }
    } catch (error) {
      if (!isFlagsError(error)) throw error;
      logFault(response, error);
      const { code, message } = error;
      refuse(response.status(503).set('retry-after', '1'), { name: 'ServiceUnavailableError', code, message });
      return;
    }
    const text = await metrics.read();
    response.set('cache-control', 'no-store').type('text/plain; version=0.0.4; charset=utf-8').send(text);
  };
}

/** Answers in the form of the errors of the API. */
function refuse(response: Response, error: { readonly name: string; readonly code: string; readonly message: string }) {
  response.json({ ...error, details: [{ message: error.message }] });
}

async function isAllowed(
  { headers: { authorization } }: Request,
  { metricsToken, isAdmin }: MetricsAccess,
): Promise<boolean> {
  const secret = authorization?.replace(/^bearer\s+/i, '');
  if (!secret) return false;
  if (metricsToken !== undefined && isSame(secret, metricsToken)) return true;
  return (await isAdmin?.(secret)) ?? false;
}

/** In constant time: of equal length by their hashes. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
