import { disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { describeInBrowser, type Host, startHost } from './host.js';

let host: Host;
let visited: Visit;
let page: Visit['page'];

beforeAll(async () => {
  host = await startHost();
  await host.flags.createProject({ id: 'shop', name: 'Shop' });
  await host.flags.createProject({ id: 'web', name: 'Web' });
  await host.flags.createFlag({ project: 'shop' }, { name: 'checkout' });
  await host.flags.createFlag({ project: 'web' }, { name: 'banner' });
  await host.flags.segments.create({ name: 'EU', constraints: [] });
  const counts = { checkout: { yes: 1, no: 0 } };
  const stop = Date.now();
  await host.flags.registerApplication({ application: 'till', strategies: [] });
  await host.flags.reportMetrics({ application: 'till', environment: 'production', start: stop - 1, stop, counts });
});
beforeEach(async () => {
  visited = await visit(`${host.page}projects/shop`);
  page = visited.page;
});
afterEach(() => visited.close());
afterAll(async () => {
  await host.close();
  await disconnectBrowser();
});

const picker = () => page.getByRole('combobox', { name: 'Project' });

async function isIn(project: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.project-picker option', { hasText: 'Web' }).waitFor({ state: 'attached' });
  expect(await picker().inputValue()).toBe(project);
}

/** Follows links, and checks after a reload of each screen that it still belongs to the project. */
async function follow(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.reload();
    await isIn('shop');
  }
}

describeInBrowser('the project in the address', () => {
  it.each([
    ['Segments', 'EU'],
    ['Playground'],
    ['Applications', 'till'],
    ['Changes'],
    ['Events'],
    ['Members'],
    ['Administration'],
  ])('outlives a reload on %s %s', async (...names) => {
    await follow(...names.filter(Boolean));
    await page.getByRole('link', { name: 'Flags', exact: true }).first().click();
    await page.getByRole('rowheader', { name: 'checkout' }).waitFor();
  });

  it('is kept by a link that opens in a new tab, and by the list of all projects', async () => {
    await page.getByRole('link', { name: 'Playground' }).waitFor();
    const address = await page
      .getByRole('link', { name: 'Playground' })
      .evaluate((link) => (link as HTMLAnchorElement).href);
    await page.goto(address);
    await isIn('shop');
    await page.getByText('Empty: all flags of the project Shop').waitFor();
    await picker().selectOption('All projects');
    await page.getByRole('rowheader', { name: 'banner' }).waitFor();
    await page.reload();
    await isIn('');
    await follow('Segments');
  });

  it('changes on a screen of every project without leaving it', async () => {
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByText('Empty: all flags of the project Shop').waitFor();
    await picker().selectOption('Web');
    await page.getByText('Empty: all flags of the project Web').waitFor();
    await page.locator('.explained').getByText('banner').waitFor();
    await picker().selectOption('Default');
    await page.getByText('Empty: all flags of the project Default').waitFor();
    await page.goBack();
    await isIn('web');
  });
});
