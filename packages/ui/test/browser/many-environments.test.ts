import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, startHost } from './host.js';
import { outside } from './outside.js';

const ENVIRONMENTS = ['development', 'integration', 'staging', 'production', 'demo'];
/** From 7 to 98 characters. */
const NAMES = Array.from({ length: 19 }, (_, index) => `flag-${index}-${'long-'.repeat(index)}`);

let host: Host;
let visited: Visit;
let segment: number;

beforeAll(async () => {
  host = await startHost({ environments: ENVIRONMENTS.map((name) => ({ name })), due: { run: 'elsewhere' } });
  const constraints = [{ contextName: 'country', operator: 'IN' as const, values: ['DE', 'AT'] }];
  segment = (await host.flags.segments.create({ name: 'EU', constraints })).id;
  for (const [index, name] of NAMES.entries()) {
    const flag = { project: 'default', flag: name };
    await host.flags.createFlag(flag, { name });
    for (const [at, environment] of ENVIRONMENTS.entries()) {
      const rollout = [100, 0, 50][(index + at) % 3] ?? 0;
      const place = { ...flag, environment };
      const parameters = { rollout, stickiness: 'default', groupId: name };
      const segments = index < 4 ? [segment] : [];
      await host.flags.addStrategy(place, { name: 'flexibleRollout', title: `To ${rollout}`, parameters, segments });
      if ((index + at) % 4 !== 3) await host.flags.enable(place);
    }
  }
});
afterEach(() => visited.close());
afterAll(async () => {
  await host.close();
  await disconnectBrowser();
});

async function open(path: string, width = 1280): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`, { viewport: { width, height: 1200 } });
  return visited.page;
}

const reviewed = (page: Visit['page']) => page.getByRole('dialog').getByRole('table', { name: 'What clients notice' });

/** The cells of the review, by row, once all users are counted. */
async function cellsOf(page: Visit['page']): Promise<readonly (readonly string[])[]> {
  const rows = reviewed(page).getByRole('row');
  await page
    .getByRole('dialog')
    .getByText(/Counted over/)
    .waitFor();
  await until(async () => !(await reviewed(page).textContent())?.includes('…'));
  const texts = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent?.replaceAll(/\s+/g, ' ').trim() ?? '')),
  );
  return texts;
}

describeInBrowser('many environments', () => {
  it('leave wider lists at least as many whole names as narrower ones', async () => {
    const page = await open('projects/default', 1100);
    let least = 0;
    for (const width of [1100, 1280, 1440, 1600, 1920]) {
      await page.setViewportSize({ width, height: 1200 });
      await page.getByRole('link', { name: NAMES[0] ?? '', exact: true }).waitFor();
      await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
      const whole = await page
        .locator('.flags .name a')
        .evaluateAll((all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth).length);
      expect(whole).toBeGreaterThanOrEqual(least);
      least = whole;
    }
    expect(least).toBe(NAMES.length);
  });

  it('are the columns of a review of many flags, production first, and each flag is one row', async () => {
    const page = await open('projects/default');
    await page.getByLabel('Choose all flags of the list').check();
    await page.getByRole('button', { name: 'Archive' }).click();
    const [head = [], ...rows] = await cellsOf(page);
    expect(head).toEqual(['Flag', 'production', 'development', 'integration', 'staging', 'demo']);
    expect(rows.map(([name]) => name)).toEqual(NAMES.toSorted());
    // It is for 50 % there. Where it is off, nobody changes.
    expect(rows.find(([name]) => name === NAMES[5])?.[1]).toMatch(/^on → gone −[\d,]+$/);
    expect(rows.find(([name]) => name === NAMES[4])?.[1]).toBe('off → gone');
    const [text = ''] = await page.getByRole('dialog').allInnerTexts();
    for (const index of NAMES.keys()) expect(text.split(`flag-${index}-`)).toHaveLength(2);
    // The names, and less than 20 characters for each cell.
    expect(text.length).toBeLessThan(NAMES.join('').length + 20 * NAMES.length * ENVIRONMENTS.length + 500);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByText('All differences of 19 flags').click();
    await page.getByRole('dialog').locator('.differences li').nth(18).waitFor();
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await outside(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('are the columns of the review of a segment, too', async () => {
    const page = await open(`segments/${segment}/edit`);
    await page.getByRole('button', { name: 'Remove AT' }).click();
    const preview = page.getByRole('complementary', { name: 'Preview' }).getByRole('table').first();
    await preview.getByRole('columnheader', { name: 'Then on' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Review changes' }).click();
    const [head, ...rows] = await cellsOf(page);
    expect(head?.slice(0, 2)).toEqual(['Flag', 'production']);
    expect(rows.map(([name]) => name)).toEqual(NAMES.slice(0, 4).toSorted());
    expect(rows.flat().filter((text) => /^on, changes −[\d,]+$/.test(text)).length).toBeGreaterThan(3);
    await page.getByRole('dialog').locator('.differences').getByText('AT').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('fold on a flag, except for production, and show whom they are for', async () => {
    const page = await open(`projects/default/flags/${NAMES[5]}`);
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    await card('production').getByText('To 50').waitFor();
    for (const name of ENVIRONMENTS.filter((one) => one !== 'production')) {
      const toggle = card(name).getByRole('button', { name, exact: true });
      expect(await toggle.getAttribute('aria-expanded')).toBe('false');
      expect(await card(name).getByText(/^To /).count()).toBe(0);
    }
    await card('integration').getByText('100 %', { exact: true }).waitFor();
    await card('integration').getByRole('button', { name: 'integration', exact: true }).click();
    await card('integration').getByText(/^To /).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('leave one line to each card of a flag that has nothing', async () => {
    const page = await open(`projects/default/flags/${NAMES[5]}`);
    await page.getByText('No evaluations in 48 hours').waitFor();
    for (const name of ['Variants', 'Dependencies', 'Usage']) {
      const card = page.getByRole('region', { name, exact: true });
      expect([name, await card.evaluate((one) => one.children.length)]).toEqual([name, 1]);
    }
  });

  it('have strategies with the same title in an explanation', async () => {
    const page = await open(`why?flag=${NAMES[5]}&env=production&as=userId%3D7`);
    await page.getByText('Strategy 1, To 50, ').waitFor();
  });

  it('offer a rollout in steps only where fewer than all users get the flag', async () => {
    const page = await open(`projects/default/flags/${NAMES[6]}`);
    await page.getByRole('region', { name: 'production', exact: true }).getByText('To 100').waitFor();
    for (const name of ['development', 'integration', 'staging', 'demo']) {
      await page.getByRole('button', { name, exact: true }).click();
    }
    const labels = page.getByRole('button', { name: /^Roll out in steps: / });
    await labels.nth(1).waitFor();
    const offered = await labels.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    // For 50 % in staging, and for 0 % in demo.
    const label = 'Roll out in steps: strategy 1 in';
    expect(offered).toEqual([`${label} staging`, `${label} demo`]);
  });

  it('are not green where a flag is on for nobody', async () => {
    const page = await open('projects/default');
    const colorOf = (environment: string) =>
      page
        .getByRole('switch', { name: `${NAMES[6]} in ${environment}`, exact: true, checked: true })
        .evaluate((one) => getComputedStyle(one).backgroundColor);
    const [forNobody, forAll] = [await colorOf('demo'), await colorOf('production')];
    expect(forNobody).not.toBe(forAll);
    expect(await colorOf('staging')).toBe(forAll);
    await page.goto(`${host.page}projects/default/flags/${NAMES[6]}`);
    await page.getByRole('region', { name: 'demo', exact: true }).waitFor();
    expect([await colorOf('demo'), await colorOf('production')]).toEqual([forNobody, forAll]);
    const borderOf = (name: string) =>
      page.getByRole('region', { name, exact: true }).evaluate((one) => getComputedStyle(one).borderInlineStartColor);
    expect(await borderOf('demo')).not.toBe(await borderOf('production'));
  });
});
