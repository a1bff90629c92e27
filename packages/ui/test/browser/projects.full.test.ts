import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

const DAY = 86_400_000;
const checkout = { project: 'default', flag: 'checkout', environment: 'production' };

let host: Host;
let visited: Visit;
let clock = Date.now() - 61 * DAY;
let mayDelete = true;

beforeAll(async () => {
  host = await startHost({
    now: () => new Date(clock),
    router: {
      auth: () => ({ name: 'ada' }),
      authorize: (_actor: unknown, action: string) => mayDelete || action !== 'deleteProject',
    },
  });
  await seed(host);
  clock = Date.now();
});
beforeEach(() => {
  mayDelete = true;
});
afterEach(() => visited.close());
afterAll(async () => {
  await host.close();
  await disconnectBrowser();
});

async function open(path: string): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  return visited.page;
}

describeInBrowser('projects', () => {
  it('are created, renamed and deleted, and all of their flags are one list', async () => {
    const page = await open('projects/nowhere');
    await page.getByRole('heading', { name: 'There is no project nowhere' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.locator('.project-picker select').selectOption('All projects');
    await page.getByRole('rowheader', { name: 'checkout' }).waitFor();
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('ID').fill('default');
    await page.getByRole('textbox', { name: 'Name' }).fill('Shop');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page
      .getByRole('dialog')
      .getByText(/default/)
      .waitFor();
    expect(visited.expectFault(/status 409/)).toBe(1);
    await page.getByLabel('ID').fill('shop');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: 'Rename Shop' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Web shop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Delete Web shop' }).waitFor();
    await host.flags.createFlag({ project: 'shop' }, { name: 'banner' });
    await page.getByRole('row', { name: /banner .*shop/ }).waitFor();
    const projects = page.getByRole('complementary', { name: 'Projects' });
    await projects.getByText('1 flag · health 100 %').waitFor();
    const [flags, beside] = await Promise.all([page.getByRole('table').boundingBox(), projects.boundingBox()]);
    expect(beside?.x).toBeGreaterThan((flags?.x ?? 0) + (flags?.width ?? Infinity));
    expect(flags?.y).toBeLessThan(260);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete Web shop' }).click();
    await page
      .getByRole('dialog', { name: 'Web shop cannot be deleted yet' })
      .getByRole('link', { name: '1 flag' })
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await host.flags.archiveFlag({ project: 'shop', flag: 'banner' });
    await projects.getByText('0 flags · health 100 %').waitFor();
    await page.getByRole('button', { name: 'Delete Web shop' }).click();
    await page.getByRole('button', { name: 'Confirm: delete Web shop' }).click();
    await page.getByText('The project Web shop was deleted.').waitFor();
    expect((await host.flags.listProjects()).items.map(({ id }) => id)).toEqual(['default']);
  });

  inFull('cannot be deleted without the permission', async () => {
    mayDelete = false;
    const page = await open('projects');
    const button = page.locator('[aria-label="Delete Default"][aria-disabled=true]');
    await button.waitFor();
    expect(await button.getAttribute('title')).toBe('Needs the permission deleteProject');
  });

  it('show their health, flags that outlived their type, and the usage of variants over 30 days', async () => {
    const counts = { checkout: { yes: 7, no: 0, variants: { blue: 5, green: 2 } } };
    const variant = { weightType: 'variable' as const, weight: 500, stickiness: 'default' };
    await host.flags.setVariants(checkout, [
      { ...variant, name: 'blue' },
      { ...variant, name: 'green' },
    ]);
    const stop = clock - 10 * DAY;
    await host.flags.reportMetrics({
      application: 'shop',
      environment: 'production',
      start: stop - 1_000,
      stop,
      counts,
    });
    const page = await open('projects/default');
    await page.getByText('health 0 %').waitFor();
    await page.getByRole('link', { name: '3 potentially stale' }).click();
    await page.getByRole('row', { name: /old-banner .*potentially stale unused for 61 days/ }).waitFor();
    await page.getByLabel('Stale').selectOption('Unused for 60 days');
    await page.getByText('2 of 3 flags').waitFor();
    await page.getByLabel('Stale').selectOption('Potentially stale');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'checkout' }).click();
    await page.getByText('potentially stale: older than 40 days').waitFor();
    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByText('No evaluations in 48 hours').waitFor();
    await page.getByLabel('30 days').check();
    await page.getByText('Variant blue: 5').waitFor();
    await page.getByRole('img', { name: 'production: 7 evaluations on and 0 off in 30 days' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
