import { text as streamText } from 'node:stream/consumers';
import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

const HOSTILE = '"><img src=x onerror=alert(1)>';
const READING = /^(get|list|count|preview|explain)/;
const checkout = { project: 'default', flag: 'checkout' };

let host: Host;
let visited: Visit;
let mayWrite = true;

beforeAll(async () => {
  host = await startHost({
    router: {
      auth: () => ({ name: 'ada' }),
      authorize: (_actor: unknown, action: string) => mayWrite || READING.test(action),
    },
  });
  await seed(host);
});
beforeEach(() => {
  mayWrite = true;
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

describeInBrowser('the consumers of events', () => {
  it('are one line without any, and can be reset and deleted', async () => {
    let page = await open('administration');
    const consumers = () => page.getByRole('region', { name: 'Consumers of events' });
    await consumers().getByText('None yet').waitFor();
    expect(await consumers().getByRole('table').count()).toBe(0);
    await visited.close();
    const stop = await host.flags.consume('audit', () => undefined, { from: 'beginning' });
    await stop();
    await host.flags.consumers.reset({ consumer: 'audit' }, { from: 'beginning' });
    page = await open('administration');
    await consumers()
      .getByText(/events?( or more)?, the oldest/)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    mayWrite = false;
    await page.reload();
    await consumers().getByRole('button', { name: 'Skip the events of audit', disabled: true }).waitFor();
    expect(await consumers().getByRole('button', { disabled: false }).count()).toBe(0);
    mayWrite = true;
    await page.reload();
    await consumers().getByRole('button', { name: 'Skip the events of audit', disabled: false }).click();
    await page.getByRole('button', { name: 'Confirm: reset audit' }).click();
    await consumers().getByText('up to date').waitFor();
    await consumers().getByRole('button', { name: 'Delete audit' }).click();
    await page.getByRole('button', { name: 'Confirm: delete audit' }).click();
    await consumers().getByText('None yet').waitFor();
    expect((await host.flags.consumers.list()).items).toEqual([]);
  });
});

describeInBrowser('the list of applications', () => {
  beforeAll(async () => {
    const strategies = ['default', 'flexibleRollout'];
    const shop = { application: 'shop', url: 'https://shop.example/', color: '#00aa77', description: HOSTILE };
    const evil = { application: HOSTILE, instance: HOSTILE, url: 'javascript:alert(1)', color: 'url(//evil)' };
    const counted = {
      start: Date.now() - 1_000,
      stop: Date.now(),
      counts: { checkout: { yes: 3, no: 1 }, 'no-such-flag': { yes: 0, no: 1 } },
    };
    for (const registration of [shop, evil]) {
      await host.flags.registerApplication({ ...registration, strategies });
      await host.flags.reportMetrics({ application: registration.application, ...counted });
    }
  });

  it('shows one application, links to its flags, and deletes it', async () => {
    const page = await open('applications');
    await page.getByText('2 applications').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'shop.example' }).getAttribute('href')).toBe('https://shop.example/');
    await page.getByText(HOSTILE).waitFor();
    await page.locator('.swatch').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'checkout' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    const unknown = page.getByRole('list', { name: 'Unknown flags' });
    await unknown.getByText('no-such-flag').waitFor();
    expect(await unknown.getByText('checkout').count()).toBe(0);
    await unknown.getByRole('button', { name: 'Create it: no-such-flag' }).click();
    expect(await page.getByRole('dialog', { name: 'New flag' }).getByLabel('Name').inputValue()).toBe('no-such-flag');
    await page.keyboard.press('Escape');
    await page.goBack();
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Confirm: forget shop' }).click();
    await page.getByText('1 application', { exact: true }).waitFor();
    expect((await host.flags.applications.list()).items).toHaveLength(1);
  });

  inFull('shows the texts of a hostile application as text', async () => {
    const page = await open(`applications/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    await page.getByRole('rowheader', { name: HOSTILE }).waitFor();
    expect(await page.locator('main a[href^="javascript"], main img, main .swatch').count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('reports that an application or flag does not exist', async () => {
    const page = await open('applications/nobody');
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 404/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${host.page}flags/nothing`);
    await page.getByText('The projects that you may see have no flag of this name.').waitFor();
  });
});

describeInBrowser('the list of events', () => {
  it('filters by flag, person, type and day, live, and shows one change by its address', async () => {
    await host.flags.as('bob').updateFlag(checkout, { description: HOSTILE });
    const page = await open('events');
    await page.getByText(HOSTILE).first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel('Who').fill('bob');
    await page.getByLabel('What').selectOption('changed details');
    await page.getByLabel('Flag', { exact: true }).fill('check');
    await page.getByLabel('From').fill('2020-01-01');
    await page.locator('.timeline > li:only-child').waitFor();
    await page.waitForURL((url) => url.searchParams.size === 4);
    const parameters = Object.fromEntries(new URL(page.url()).searchParams);
    expect(parameters).toEqual({ who: 'bob', type: 'feature-metadata-updated', flag: 'check', from: '2020-01-01' });
    await host.flags.as('bob').updateFlag(checkout, { description: 'another' });
    await page.locator('.timeline > li:nth-child(2)').waitFor();
    await page.reload();
    await page.locator('.timeline > li:nth-child(2)').waitFor();
    await page.getByRole('textbox', { name: 'To' }).fill('2020-01-02');
    await page.getByRole('heading', { name: 'No change matches' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove the filters' }).last().click();
    await page.locator('.when').first().click();
    await page.getByRole('heading', { name: /^Change of/ }).waitFor();
    expect(await page.locator('.timeline > li').count()).toBe(1);
    await page.getByRole('button', { name: /^Revert: bob/ }).click();
    await page.getByRole('button', { name: 'Confirm: revert' }).click();
    await page.getByText('The change was reverted.').waitFor();
    expect((await host.flags.getFlag(checkout)).description).toBe(HOSTILE);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('shows more on demand, and names the permission that a revert needs', async () => {
    mayWrite = false;
    for (let number = 0; number < 40; number++) {
      await host.flags.updateFlag(checkout, { description: `Number ${number}` });
    }
    const page = await open('events');
    await page.locator('.timeline > li:nth-child(30)').waitFor();
    // The button also works while an event makes the page read the entries again.
    let reads = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/admin\/history/, async (route) => {
      reads++;
      await released;
      await route.continue();
    });
    await host.flags.updateFlag(checkout, { description: 'One more' });
    await until(() => reads > 0);
    await page.getByRole('button', { name: 'Show more' }).click();
    release();
    await page.locator('.timeline > li:nth-child(40)').waitFor();
    await page.locator('button[title="Needs the permission undoChange"]').first().waitFor();
    // Below the bar that sticks, an entry is partly covered.
    await page.evaluate(() => scrollTo(0, 0));
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('reports that a change does not exist', async () => {
    const page = await open('events/00000000-0000-4000-8000-000000000000');
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 404/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describeInBrowser('the events', () => {
  it('are downloaded as CSV, unless a filter takes a part of a name or the permission is missing', async () => {
    const page = await open('projects/default/events?type=feature-created');
    const button = page.getByRole('button', { name: 'Download CSV' });
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(file.suggestedFilename()).toBe('events.csv');
    const text = await streamText(await file.createReadStream());
    const [names, ...lines] = text.trimEnd().split('\r\n');
    expect(names).toMatch(/^id,type,createdAt,createdBy,/);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^\d+,feature-created,/);
    await page.getByText('Downloaded events.csv.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Who' }).fill('ad');
    await page.getByRole('button', { name: 'Download CSV', disabled: true }).waitFor();
  });
});
