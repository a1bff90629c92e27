import { placeAt } from '../population.js';

/** A request of the mix. */
export interface MixedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

const PROJECT = '/api/admin/projects/default';
const FEATURES = `${PROJECT}/features`;
/** Flags that exist before the load starts, and are never deleted. */
export const FLAGS = 500;
/** Flags that are created and deleted. */
const PASSING = 100;
/** Reporting applications disappear, and others appear: their stored data must stay bounded. */
const REPORTS_OF_ONE = 200;

const random = (below: number) => Math.floor(Math.random() * below);
const anyFlag = () => `${FEATURES}/${placeAt(random(FLAGS)).flag}`;
const place = (rest = '') => `${anyFlag()}/environments/development${rest}`;

/** Of a hundred requests: 45 reads, 25 changes, 30 reports of metrics. */
export function nextRequest(ordinal: number): MixedRequest {
  const kind = random(100);
  if (kind < 25) return { method: 'GET', path: anyFlag() };
  if (kind < 35)
    return { method: 'GET', path: `/api/client/features?environment=development&namePrefix=flag-00${random(5)}` };
  if (kind < 38) return { method: 'GET', path: FEATURES };
  if (kind < 42) return { method: 'GET', path: '/api/admin/events?limit=20' };
  if (kind < 45) return { method: 'GET', path: '/api/admin/metrics/feature-toggles' };
  if (kind < 55) return { method: 'POST', path: place('/on') };
  if (kind < 62) return { method: 'POST', path: place('/off') };
  if (kind < 66) return { method: 'PUT', path: `${anyFlag()}/variants`, body: [variant()] };
  if (kind < 70) return passing();
  return { method: 'POST', path: '/api/client/metrics', body: report(ordinal) };
}

/** The whole life of a flag, step by step. Most steps meet another state, and are refused. */
function passing(): MixedRequest {
  const name = `passing-${random(PASSING)}`;
  switch (random(3)) {
    case 0:
      return { method: 'POST', path: FEATURES, body: { name } };
    case 1:
      return { method: 'DELETE', path: `${FEATURES}/${name}` };
    default:
      return { method: 'DELETE', path: `/api/admin/archive/${name}` };
  }
}

function variant() {
  return { name: `v${random(5)}`, weight: 1000, weightType: 'variable', stickiness: 'default' };
}

/** The period ends in the future of both clocks, which counts as now. */
function report(ordinal: number) {
  const application = Math.floor(ordinal / REPORTS_OF_ONE);
  const counts = Array.from({ length: 5 }, () => [placeAt(random(FLAGS)).flag, { yes: random(9), no: 1 }] as const);
  const bucket = { start: '2026-01-01T00:00:00Z', stop: '9999-01-01T00:00:00Z', toggles: Object.fromEntries(counts) };
  return { appName: `application-${application}`, instanceId: `${random(3)}`, bucket };
}
