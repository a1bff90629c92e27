import type { AdminClient } from '../admin-client.js';

const FEATURES = '/api/admin/projects/default/features';

/** One request in the life of a flag, and its event. */
interface Step {
  readonly event: string;
  readonly request: (client: AdminClient, flag: string) => Promise<Response>;
}

/** The life of a flag, in order. Every event occurs once, so that each can be found. */
export const LIFE: readonly Step[] = [
  { event: 'flag-created', request: (client, flag) => client.createFlag(flag) },
  { event: 'strategy-added', request: (client, flag) => client.post(place(flag, 'strategies'), { name: 'default' }) },
  { event: 'environment-enabled', request: (client, flag) => client.post(place(flag, 'on')) },
  { event: 'variants-updated', request: (client, flag) => client.put(`${FEATURES}/${flag}/variants`, [VARIANT]) },
  { event: 'environment-disabled', request: (client, flag) => client.post(place(flag, 'off')) },
];

/** The flag whose evaluations are counted. */
export const COUNTED = 'counted';

/** Reports that {@link COUNTED} was on once. */
export function reportOnce(client: AdminClient): Promise<Response> {
  const now = new Date().toISOString();
  const bucket = { start: now, stop: now, toggles: { [COUNTED]: { yes: 1, no: 0 } } };
  return client.post('/api/client/metrics', { appName: 'shop', instanceId: '1', bucket });
}

const VARIANT = { name: 'blue', weight: 1000, weightType: 'variable' };

function place(flag: string, rest: string): string {
  return `${FEATURES}/${flag}/environments/production/${rest}`;
}
