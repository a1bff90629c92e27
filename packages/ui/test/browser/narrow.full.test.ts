import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';
import { outside } from './outside.js';

/** A name of the maximum length, in one word. */
const LONG = 'n'.repeat(100);
const project = 'default';
const VIEWPORT = { width: 390, height: 800 };

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost();
  await seed(host, 300);
  const segment = { name: 's'.repeat(100), description: 'd'.repeat(300) };
  const constraints = [{ contextName: 'c'.repeat(90), operator: 'IN' as const, values: ['v'.repeat(200), 'short'] }];
  const { id } = await host.flags.segments.create({ ...segment, constraints });
  await host.flags.createFlag(
    { project },
    { name: LONG, description: 'w'.repeat(200), labels: ['l'.repeat(50), 'web'], owner: 'o'.repeat(90) },
  );
  for (const environment of ['development', 'production']) {
    await host.flags.configureEnvironment(
      { project, flag: LONG, environment },
      {
        enabled: true,
        strategies: [
          { name: 'flexibleRollout', title: 't'.repeat(120), parameters: { rollout: 33 }, segments: [id], constraints },
        ],
      },
    );
  }
  const items = Array.from({ length: 30 }, (_, index) => ({ index, label: `Item ${index}` }));
  await host.flags.setVariants({ project, flag: LONG }, [
    { name: 'blue', weightType: 'variable', payload: { type: 'json', value: JSON.stringify({ items }) } },
    { name: 'v'.repeat(100), weightType: 'fix', weight: 333, payload: { type: 'string', value: 'p'.repeat(400) } },
  ]);
  await host.flags.tokens.create({ name: LONG, kind: 'client' });
});
afterEach(() => visited.close());
afterAll(async () => {
  await disconnectBrowser();
  await host.close();
});

async function open(path: string, viewport = VIEWPORT): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`, { viewport });
  await visited.page.getByRole('heading', { level: 1 }).waitFor();
  return visited.page;
}

/** The index of the row at a height of the window; 0 if there is none. */
function rowAt(page: Visit['page'], height: number): Promise<number> {
  return page.evaluate((y) => {
    const row = document.elementFromPoint(200, y)?.closest('tr');
    return Number(row?.getAttribute('aria-rowindex'));
  }, height);
}

describeInBrowser('a narrow window', () => {
  it('lists flags as cards of one height, with their switches in view', async () => {
    const page = await open('projects/default');
    await page.getByText('301 flags', { exact: true }).waitFor();
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).waitFor();
    const edges = await page
      .getByRole('switch')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    expect(Math.min(...edges.flat())).toBeGreaterThanOrEqual(0);
    expect(Math.max(...edges.flat())).toBeLessThanOrEqual(VIEWPORT.width);
    // A switch for each of the two environments on each card.
    expect(edges).toHaveLength(2 * (await page.locator('tbody tr:not(.gap)').count()));
    await page.getByLabel('Choose checkout').check();
    expect(await outside(page)).toEqual([]);
    expect(await accessibilityViolations(page)).toEqual([]);
    const heights = await page.locator('tbody tr:not(.gap)').evaluateAll((rows) => rows.map((row) => row.clientHeight));
    expect(new Set(heights).size).toBe(1);
    // The middle of the scroll position shows the middle of the list, not a gap.
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    await until(async () => Math.abs((await rowAt(page, 400)) - 150) < 10);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByRole('link', { name: 'old-banner' }).waitFor();
  });

  it('keeps long names and values within the window, on every screen', async () => {
    const page = await open(`projects/default/flags/${LONG}`);
    await page.locator('.timeline li').first().waitFor();
    await page
      .getByText(/^All .* characters$/)
      .first()
      .click();
    expect(await outside(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit variants' }).click();
    await page.getByRole('button', { name: 'Format' }).click();
    expect(await page.getByLabel('Value').first().inputValue()).toContain('\n      "label": "Item 0"\n');
    expect(await outside(page)).toEqual([]);
    for (const path of [`projects/default/flags/${LONG}/production`, 'segments', 'segments/1', 'tokens', 'events']) {
      await page.goto(`${host.page}${path}`);
      await page.locator('.strategy-body, tbody tr, .rules li, .timeline li').first().waitFor();
      expect([path, ...(await outside(page))]).toEqual([path]);
    }
  });
});

describeInBrowser('a wide window', () => {
  it('keeps the head of the list below bars of any height', async () => {
    const page = await open(`projects/default?as=userId%3D${'u'.repeat(90)}`, { width: 1000, height: 800 });
    await page.getByText('301 flags', { exact: true }).waitFor();
    const edges = () =>
      page.evaluate(() => {
        const boxes = ['header.bar', '.bulk', '.flags thead th'].map((selector) =>
          document.querySelector(selector)?.getBoundingClientRect(),
        );
        return boxes.map((box) => [Math.round(box?.top ?? 0), Math.round(box?.bottom ?? 0)] as const);
      });
    const heights = new Set<number>();
    for (const act of [
      () => Promise.resolve(),
      () => page.getByLabel('Choose checkout').check(),
      () => page.evaluate("document.documentElement.style.fontSize = '26px'"),
    ]) {
      await page.evaluate('scrollTo(0, 0)');
      await act();
      await page.evaluate('scrollTo(0, 3000)');
      await until(async () => {
        const [bar = [0, 0], bulk = [0, 0], head = [0, 0]] = await edges();
        heights.add(head[0]);
        return bar[0] === 0 && Math.abs(Math.max(bar[1], bulk[1]) - head[0]) <= 1;
      });
    }
    expect(heights.size).toBeGreaterThan(2);
  });

  it('does not break the words of the variants', async () => {
    const page = await open(`projects/default/flags/${LONG}`, { width: 1200, height: 800 });
    await page.getByRole('rowheader', { name: 'blue' }).waitFor();
    const lines = await page.locator('.card table :is(thead th, tbody tr:first-child > th)').evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      }),
    );
    expect(lines).toEqual([1, 1, 1, 1, 1]);
    expect(await outside(page)).toEqual([]);
    await page.goto(`${host.page}tokens`);
    await page.getByRole('rowheader', { name: LONG }).waitFor();
    const tag = page.getByRole('cell', { name: 'Client' }).locator('.tag');
    expect(await tag.evaluate(({ clientHeight }) => clientHeight)).toBeLessThan(30);
    // The name keeps its position in the list at every width, also with one more column.
    for (const width of [700, 850, 1000, 1200]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${host.page}projects/default?as=userId%3D7`);
      const name = page.getByRole('link', { name: 'checkout', exact: true });
      await name.waitFor();
      await until(async () => ((await page.locator('th.name:has(a)').first().boundingBox())?.width ?? 0) > 200);
      expect([width, ...(await outside(page))]).toEqual([width]);
    }
  });
});
