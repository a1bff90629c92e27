import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost();
  await seed(host);
  const constraints = [{ contextName: 'country', operator: 'IN' as const, values: ['DE', 'AT'] }];
  const { id } = await host.flags.segments.create({ name: 'eu', constraints });
  const ref = { project: 'default', flag: 'dark-mode', environment: 'production' };
  await host.flags.configureEnvironment(ref, { enabled: true, strategies: [{ name: 'default', segments: [id] }] });
  await host.flags.setVariants(ref, [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }]);
  await host.flags.addDependency(ref, { flag: 'checkout' });
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

describeInBrowser('the playground', () => {
  it('explains all flags for the context in the address, each step in words', async () => {
    const page = await open('why');
    await page.getByText(/^3 flags, \d on/).waitFor();
    await page.getByLabel('User ID').fill('7');
    await page.getByLabel('Other fields').fill('country=FR');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('user 7 · FR').first().waitFor();
    expect(new URL(page.url()).searchParams.get('as')).toBe('userId=7&country=FR');
    await page.getByLabel('Environment').selectOption('All environments');
    await page.getByRole('heading', { name: 'development' }).waitFor();
    await page.getByText('checkout', { exact: true }).nth(1).click();
    await page.getByText(/Bucket \d+, the hash of “checkout:7”, is beyond the rollout of 25 %/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('explains one flag: dependencies, segments, rollout and variant', async () => {
    const page = await open('why?as=userId%3D10%26country%3DDE&flag=dark-mode&env=production');
    await page.getByText('Depends on').waitFor();
    await page.getByRole('link', { name: 'checkout' }).waitFor();
    await host.flags.configureEnvironment(
      { project: 'default', flag: 'checkout', environment: 'production' },
      { enabled: true, strategies: [{ name: 'default' }] },
    );
    await page.getByRole('link', { name: 'eu', exact: true }).waitFor();
    await page.getByText(/country is one of DE, AT: it is/).waitFor();
    await page.getByText('dark-mode is on: blue in production').waitFor();
    await page.getByText(/^Variant blue: at [\d.]+ % of the weights/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('draws once for a context without a user ID, and reports it', async () => {
    const page = await open('why?env=development&flag=checkout');
    await page.getByText('Without a user ID, gradual rollouts draw at random.').waitFor();
    const bucket = page.getByText(/^Bucket \d+/).first();
    const drawn = await bucket.textContent();
    for (const description of ['one', 'two', 'three']) {
      const explained = page.waitForResponse((response) => response.url().endsWith('/playground'));
      await host.flags.updateFlag({ project: 'default', flag: 'checkout' }, { description });
      await explained;
    }
    expect(await bucket.textContent()).toBe(drawn);
    await page.getByLabel('User ID').fill('7');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('Without a user ID').waitFor({ state: 'hidden' });
  });

  inFull('explains the decisions of an earlier time', async () => {
    const [last] = (await host.flags.events.list({ limit: 1 })).items;
    await until(() => Date.now() > Date.parse(last?.at ?? ''));
    await host.flags.createFlag({ project: 'default' }, { name: 'younger' });
    const page = await open('why?env=production');
    await page.getByText(/^4 flags, \d on/).waitFor();
    await page.goto(`${host.page}why?env=production&asOf=${encodeURIComponent(last?.at ?? '')}`);
    await page.getByText(/for a context without any fields as of/).waitFor();
    await page.getByText(/^3 flags, \d on/).waitFor();
    await page.getByLabel('As of').fill('2001-01-01T00:00:00');
    await page.getByText('must not be before the first event of the log').waitFor();
    expect(visited.expectFault(/status 400/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel('As of').fill('');
    await page.getByText(/^4 flags, \d on/).waitFor();
    expect(new URL(page.url()).searchParams.has('asOf')).toBe(false);
  });

  inFull('names the invalid field, and reports that a flag does not exist', async () => {
    const page = await open('why?flag=nothing');
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 404/)).toBeGreaterThan(0);
    await page.getByLabel('Other fields').fill('country DE');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.field.faulty', { hasText: 'write name=value' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describeInBrowser('a flag as of an earlier time', () => {
  inFull('shows the flag at that time, and returns to now', async () => {
    const ref = { project: 'default', flag: 'old-banner' };
    const [before] = (await host.flags.events.list({ limit: 1 })).items;
    await host.flags.updateFlag(ref, { description: 'What it is now' });
    const page = await open(`projects/default/flags/old-banner?asOf=${encodeURIComponent(before?.at ?? '')}`);
    await page.getByText('What old-banner does').waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show it as it is now' }).click();
    await page.getByText('What it is now').first().waitFor();
    await page.getByLabel('As of').fill('2001-01-01T00:00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 400/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
