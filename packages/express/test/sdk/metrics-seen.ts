import { until } from '../until.js';
import { PRODUCTION, type RestartingServer } from './restarting-server.js';

interface Application {
  readonly appName: string;
}

/** Waits until an application's counts of `checkout` show, and expects them in every endpoint that tells of them. */
export async function expectMetricsOf(appName: string, server: RestartingServer, strategies: readonly string[]) {
  const read = async (path: string) => {
    const response = await fetch(`${server.url}/api/admin/metrics/${path}`, {
      headers: { authorization: server.secrets.admin },
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  const seen = async () =>
    (await read('seen-toggles')).find((one: Application & { metricsCount: number }) => one.appName === appName);
  await until(async () => ((await seen())?.metricsCount ?? 0) > 0);

  expect((await seen()).seenToggles).toEqual(['checkout']);
  const { yes, no } = (await read('feature-toggles')).lastHour.checkout;
  expect(yes + no).toBeGreaterThan(0);
  const isListed = ({ applications }: { applications: Application[] }) =>
    applications.some((application) => application.appName === appName);
  expect(isListed(await read('applications'))).toBe(true);
  for (const strategy of strategies) {
    expect(isListed(await read(`applications?strategyName=${strategy}`))).toBe(true);
  }
  const detail = await read(`applications/${appName}`);
  expect(detail).toMatchObject({ appName, seenToggles: ['checkout'] });
  expect(detail.instances.length).toBeGreaterThan(0);
  expect((await read('seen-apps')).checkout.map((application: Application) => application.appName)).toContain(appName);
  expect((await server.flags().getFlag(PRODUCTION)).lastSeenAt).not.toBeNull();
}
