import { until } from '../../../../test/until.js';
import { PRODUCTION, type RestartingServer } from './restarting-server.js';

interface Application {
  readonly appName: string;
}

interface SeenToggles extends Application {
  readonly seenToggles: readonly string[];
  readonly metricsCount: number;
}

interface Reported {
  /** Those that the application registers. */
  readonly strategies: readonly string[];
  /** How often it has evaluated `checkout`. */
  readonly evaluations: number;
}

/**
 * Waits until an application's counts of `checkout` are visible, and expects them in every endpoint that shows them, and
 * each evaluation once.
 */
export async function expectMetricsOf(
  appName: string,
  server: RestartingServer,
  { strategies, evaluations }: Reported,
): Promise<void> {
  const read = createReader(server);
  const seen = async () => (await read<SeenToggles[]>('seen-toggles')).find((one) => one.appName === appName);
  await until(async () => ((await seen())?.metricsCount ?? 0) >= evaluations);
  await server.closeFollowers();

  expect(await seen()).toMatchObject({ seenToggles: ['checkout'], metricsCount: evaluations });
  const counts = await read<{ lastHour: Record<string, { yes: number; no: number }> }>('feature-toggles');
  expect((counts.lastHour.checkout?.yes ?? 0) + (counts.lastHour.checkout?.no ?? 0)).toBeGreaterThan(0);
  for (const path of ['applications', ...strategies.map((strategy) => `applications?strategyName=${strategy}`)]) {
    const { applications } = await read<{ applications: Application[] }>(path);
    expect(applications.map((application) => application.appName)).toContain(appName);
  }
  const detail = await read<{ instances: unknown[] }>(`applications/${appName}`);
  expect(detail).toMatchObject({ appName, seenToggles: ['checkout'] });
  expect(detail.instances.length).toBeGreaterThan(0);
  const byFlag = await read<Record<string, Application[]>>('seen-apps');
  expect(byFlag.checkout?.map((application) => application.appName)).toContain(appName);
  expect((await server.flags().getFlag(PRODUCTION)).lastSeenAt).not.toBeNull();
}

function createReader({ root, secrets }: RestartingServer) {
  return async <Body>(path: string): Promise<Body> => {
    const response = await fetch(`${root}/api/admin/metrics/${path}`, { headers: { authorization: secrets.admin } });
    expect(response.status).toBe(200);
    return (await response.json()) as Body;
  };
}
