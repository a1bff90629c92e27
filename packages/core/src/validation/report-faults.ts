import type { BulkReport, ClientRegistration, MetricsReport } from '../api/metrics.js';
import type { ErrorDetail } from '../errors.js';
import { parseClientTime } from './iso-date.js';
import { LIMITS } from './limits.js';

export function findRegistrationFaults(registration: ClientRegistration): readonly ErrorDetail[] {
  const size = sizeOf(registration);
  if (size <= LIMITS.registrationSize) return [];
  const message = `must have at most ${LIMITS.registrationSize} bytes of JSON, not ${size}: name fewer strategies`;
  return [{ message, path: '/strategies' }];
}

export function findPeriodFaults({ bucket }: MetricsReport): readonly ErrorDetail[] {
  const [start = 0, stop = 0] = [parseClientTime(bucket.start), parseClientTime(bucket.stop)];
  return stop < start ? [{ message: 'must not be before start', path: '/bucket/stop' }] : [];
}

export function findBulkFaults({ registrations = [], reports = [] }: BulkReport): readonly ErrorDetail[] {
  const flags = reports.reduce((sum, { bucket }) => sum + Object.keys(bucket.toggles).length, 0);
  if (flags > LIMITS.metricsPerBatch) {
    return [{ message: `must not count more than ${LIMITS.metricsPerBatch} flags in all`, path: '/reports' }];
  }
  const size = registrations.reduce((sum, registration) => sum + sizeOf(registration), 0);
  if (size > LIMITS.registrationsSizePerBatch) {
    const message = `must have at most ${LIMITS.registrationsSizePerBatch} bytes of JSON in all, not ${size}: send several`;
    return [{ message, path: '/registrations' }];
  }
  return [
    ...registrations.flatMap((registration, index) =>
      findRegistrationFaults(registration).map((fault) => within(`/registrations/${index}`, fault)),
    ),
    ...reports.flatMap((report, index) => findPeriodFaults(report).map((fault) => within(`/reports/${index}`, fault))),
  ];
}

function within(parent: string, { message, path }: ErrorDetail): ErrorDetail {
  return { message, path: `${parent}${path ?? ''}` };
}

/** In bytes of JSON, of what is stored of a registration. */
function sizeOf({ appName, instanceId, sdkVersion, strategies, description, url, color, icon }: ClientRegistration) {
  return Buffer.byteLength(
    JSON.stringify({ appName, instanceId, sdkVersion, strategies, description, url, color, icon }),
  );
}
