import type { StrategyInput } from '@flags/core';
import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let visited: Visit;

async function open(path = '', count = 3): Promise<Visit['page']> {
  host = await startHost();
  await seed(host, count);
  visited = await visit(`${host.page}projects/default${path}`);
  return visited.page;
}

afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

const ref = { project: 'default', flag: 'checkout' };

async function isOn(environment: string): Promise<boolean | undefined> {
  const { environments } = await host.flags.getFlag(ref);
  return environments.find(({ name }) => name === environment)?.enabled;
}

describeInBrowser('the list of flags', () => {
  it('switches a flag at once where no review is required, and offers to undo it', async () => {
    const page = await open();
    const control = page.getByRole('switch', { name: 'checkout in development', exact: true });
    await control.click();
    await page.getByText('checkout is off in development.').waitFor();
    expect(await control.getAttribute('aria-checked')).toBe('false');
    expect(await isOn('development')).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await until(() => isOn('development'));
    await page.getByText('The change was reverted.').waitFor();
    await until(async () => (await control.getAttribute('aria-checked')) === 'true');
  });

  it('shows names of 40 characters at 1280 with three environments, also with View as', async () => {
    host = await startHost({ environments: [{ name: 'development' }, { name: 'staging' }, { name: 'production' }] });
    const name = 'recommendations-for-business-customers-2';
    const labels = ['payments', 'team-checkout', 'web'];
    await host.flags.createFlag({ project: 'default' }, { name, description: 'd'.repeat(300), labels });
    await host.flags.updateFlag({ project: 'default', flag: name }, { stale: true });
    visited = await visit(host.page, { viewport: { width: 1280, height: 800 } });
    const { page } = visited;
    for (const path of ['', '?as=userId%3D7']) {
      await page.goto(`${host.page}projects/default${path}`);
      const link = page.getByRole('link', { name, exact: true });
      await link.waitFor();
      await until(() => link.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth));
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${host.page}projects/default`);
    await page.getByRole('switch').first().waitFor();
    const boxes = await page
      .locator('tbody tr:first-of-type :is(.name a, .name-line, .environment-state, .switch, .audience)')
      .evaluateAll((all) =>
        all.filter((one) => !one.matches('.environment-state')).map((one) => one.getBoundingClientRect().toJSON()),
      );
    const overlapping = boxes.flatMap((one, index) =>
      boxes.slice(index + 1).filter(({ left, right, top, bottom }) => {
        return left < one.right - 1 && right > one.left + 1 && top < one.bottom - 1 && bottom > one.top + 1;
      }),
    );
    expect([boxes.length > 4, overlapping]).toEqual([true, []]);
    expect(boxes[0]?.top).toBeLessThanOrEqual(844 / 3);
  });

  it('reviews a switch in production first', async () => {
    const page = await open();
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Disable checkout in production' });
    await dialog.getByText('become off').waitFor();
    expect(await isOn('production')).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await isOn('production')).toBe(true);
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    await dialog.getByLabel('Reason').fill('Incident 7');
    await dialog.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('checkout is off in production.').waitFor();
    const { items: events } = await host.flags.events.list({ limit: 1 });
    expect(events[0]).toMatchObject({ type: 'environment-disabled', reason: 'Incident 7' });
  });

  inFull('enables a flag without strategies with a full rollout', async () => {
    const page = await open('', 4);
    await page.getByRole('switch', { name: 'flag-00003 in development', exact: true }).click();
    await page.getByText('flag-00003 is on in development.').waitFor();
    const { environments } = await host.flags.getFlag({ project: 'default', flag: 'flag-00003' });
    expect(environments[0]).toMatchObject({ enabled: true, strategies: [{ parameters: { rollout: '100' } }] });
  });

  inFull('keeps filters, sort and the viewed context in the address', async () => {
    const page = await open();
    await page.getByRole('searchbox').fill('dark');
    await page.getByText('1 of 3 flags').waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'View as…' }).click();
    await page.getByLabel('User ID').fill('7');
    await page.getByLabel('Other fields').fill('country=DE');
    await page.getByRole('button', { name: 'View', exact: true }).click();
    await page.getByRole('button', { name: 'View as user 7 · DE' }).waitFor();
    const query = new URL(page.url()).searchParams;
    expect([query.get('q'), query.get('sort'), query.get('as')]).toEqual(['dark', '-name', 'userId=7&country=DE']);
    await page.reload();
    await page.getByText('1 of 3 flags').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('dark');
    await page.getByRole('cell', { name: 'off disabled' }).waitFor();
    await page.getByRole('searchbox').fill('check');
    await page.getByRole('cell', { name: /^(on|off) .*bucket/ }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('creates, clones, archives, revives and deletes', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'New flag' }).click();
    await page.getByLabel('Name').fill('not a name');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 400/)).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
    // One refusal is shown once, at its field, without the place in the request.
    expect(await page.getByText('must be 1–100 of the characters').count()).toBe(1);
    expect(await page.getByText('/changes/').count()).toBe(0);
    await page.getByLabel('Name').fill('checkout');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.locator('.field.faulty').getByText('The flag name checkout is taken').waitFor();
    expect(await page.getByText('checkout is taken').count()).toBe(1);
    expect(visited.expectFault(/status 409/)).toBe(1);
    await page.getByLabel('Name').fill('fresh');
    await page.getByLabel('Labels').fill('web, beta');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('heading', { name: 'fresh', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Clone…' }).click();
    await page.getByRole('button', { name: 'Clone flag' }).click();
    await page.getByRole('heading', { name: 'fresh-copy', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Archive…' }).click();
    await page.getByRole('button', { name: 'Confirm: archive fresh-copy' }).click();
    await page.getByText('This flag is archived').waitFor();
    await page.goto(`${host.page}projects/default?show=archived`);
    await page.getByRole('button', { name: 'Revive fresh-copy' }).click();
    await page.getByText('The archive is empty').waitFor();
    await host.flags.archiveFlag({ project: 'default', flag: 'fresh-copy' });
    await page.getByRole('button', { name: 'Delete fresh-copy' }).click();
    await page.getByRole('button', { name: 'Confirm: delete fresh-copy' }).click();
    await page.getByText('The archive is empty').waitFor();
    const names = (await host.flags.listFlags({ project: 'default' })).items.map(({ name }) => name);
    expect(names).toEqual(['checkout', 'dark-mode', 'fresh', 'old-banner']);
  });

  it('shows who gets a flag, and which parent switches it off: in the list, on the flag, in the palette', async () => {
    const page = await open('', 5);
    const { id } = await host.flags.segments.create({ name: 'EU customers', constraints: [] });
    const rollout = (flag: string, percent: number): StrategyInput => ({
      name: 'flexibleRollout',
      parameters: { rollout: percent, stickiness: 'default', groupId: flag },
    });
    const strategies: Record<string, StrategyInput[]> = {
      checkout: [rollout('checkout', 20), { name: 'userWithId', parameters: { userIds: '1,2,3' } }],
      'dark-mode': [{ ...rollout('dark-mode', 25), segments: [id] }],
      'flag-00003': [rollout('flag-00003', 100)],
      'old-banner': [
        {
          ...rollout('old-banner', 100),
          constraints: [{ contextName: 'country', operator: 'IN', values: ['DE'] }],
        },
      ],
    };
    for (const [flag, all] of Object.entries(strategies)) {
      const target = { project: 'default', flag, environment: 'production' };
      await host.flags.configureEnvironment(target, { enabled: true, strategies: all });
    }
    const child = { project: 'default', flag: 'flag-00003' };
    await host.flags.addDependency(child, { flag: 'flag-00004' });
    const cell = (flag: string, words: string) =>
      page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name: flag, exact: true }) })
        .getByText(words, { exact: true });
    await cell('checkout', '20 % + 3 users').waitFor();
    await cell('dark-mode', '25 % of EU customers').waitFor();
    await cell('old-banner', 'targeted').waitFor();
    await cell('flag-00003', 'because of flag-00004').waitFor();
    await page.getByLabel('State').selectOption('Off in production');
    await page.getByRole('link', { name: 'flag-00003' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByLabel('Find flags, pages and actions').fill('flag-00003');
    await page.getByRole('option', { name: /^flag-00003.*production off because of flag-00004/ }).click();
    const card = page.getByRole('region', { name: 'production' });
    await card.getByText('Off because of flag-00004').waitFor();
    await card.getByRole('link', { name: 'flag-00004' }).click();
    await page.getByRole('heading', { name: 'flag-00004', level: 1 }).waitFor();
    // The page shows why archiving is not possible before the user tries it.
    await page.getByRole('button', { name: 'Archive…' }).click();
    const dialog = page.getByRole('dialog', { name: 'flag-00004 cannot be archived yet' });
    await dialog.getByRole('link', { name: 'flag-00003' }).waitFor();
    expect(await dialog.getByRole('button', { name: /Confirm/ }).count()).toBe(0);
    await page.goto(`${host.page}projects/default`);
    await page.getByLabel('Choose flag-00004').check();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('flag-00003 depend on the flag flag-00004').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(visited.expectFault(/status 4.. ?.*changes.plan/)).toBe(1);
  });

  inFull('changes chosen flags in one commit', async () => {
    const page = await open();
    await page.getByLabel('Choose all flags of the list').check();
    await page.getByText('3 flags chosen').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Mark stale' }).click();
    await page.getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('Mark stale: 3 flags changed.').waitFor();
    const { items: events } = await host.flags.events.list({ limit: 3 });
    expect(new Set(events.map(({ type, changeSet }) => `${type} ${changeSet}`)).size).toBe(1);
    expect(events[0]?.type).toBe('flag-stale-on');
  });

  inFull('draws the usage of all flags from one request', async () => {
    const page = await open();
    const api = host.page.replace(/ui\/$/, 'api/');
    const now = Date.now();
    const bucket = {
      start: new Date(now - 60_000).toISOString(),
      stop: new Date(now).toISOString(),
      toggles: { checkout: { yes: 30, no: 12, variants: {} } },
    };
    const { status } = await fetch(`${api}client/metrics`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ appName: '<script>shop</script>', environment: 'production', bucket }),
    });
    expect(status).toBe(202);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.reload();
    await page
      .getByRole('row', { name: /^Choose checkout/ })
      .getByText('42 evaluations')
      .waitFor();
    await page
      .getByRole('row', { name: /^Choose dark-mode/ })
      .getByText('0 evaluations')
      .waitFor();
    // A live update may read all usage again. No request asks for a single flag.
    expect(requests.filter((url) => url.includes('/metrics/usage?'))).not.toEqual([]);
    expect(requests.filter((url) => url.includes('/metrics/usage/'))).toEqual([]);
    await page.getByRole('link', { name: 'checkout' }).click();
    await page.getByText('<script>shop</script>').first().waitFor();
  });

  inFull('explains the unsaved draft for the viewed user', async () => {
    const page = await open('/flags/checkout/production?as=userId%3D7');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('100');
    await page.getByText(/With your draft, it is on for 7 a strategy matches, bucket \d+ ≤ 100/).waitFor();
    await page.getByRole('link', { name: 'checkout' }).first().click();
    await page.getByRole('region', { name: 'production' }).getByText('With your draft, it is').waitFor();
  });

  it('shows what others change, without a reload', async () => {
    const page = await open();
    await page.getByText('Live', { exact: true }).waitFor();
    await host.flags.as('bob').disable({ ...ref, environment: 'production' });
    await page.locator('[aria-label="checkout in production"][aria-checked="false"]').waitFor();
    await host.flags.createFlag({ project: 'default' }, { name: 'brand-new' });
    await page.getByRole('link', { name: 'brand-new' }).waitFor();
  });

  inFull('renders some forty rows for 10,000 flags', async () => {
    const page = await open('', 10_000);
    await page.getByText('10,000 flags', { exact: true }).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(60);
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('10001');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByRole('link', { name: 'old-banner' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(60);
    await page.getByRole('searchbox').fill('flag-07777');
    await page.getByText('1 of 10,000 flags').waitFor();
    await page.getByRole('switch', { name: 'flag-07777 in production' }).waitFor();
  });

  inFull('shows hostile names, labels and descriptions as text', async () => {
    const page = await open();
    const hostile = '<img src=x onerror=alert(1)>';
    await host.flags.createFlag(
      { project: 'default' },
      { name: 'constructor', description: hostile, labels: [hostile], owner: hostile },
    );
    await page.getByRole('link', { name: 'constructor' }).click();
    await page.getByRole('heading', { name: 'constructor', level: 1 }).waitFor();
    await page.getByText(hostile).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
  });
});
