import { type Action, roles } from '@flags/express';
import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

const DAY = 86_400_000;

let host: Host;
let visited: Visit;
let role: 'editor' | 'viewer' | undefined;
let stops: readonly (() => Promise<void>)[];

beforeAll(async () => {
  host = await startHost({
    router: {
      auth: () => ({ name: 'ada' }),
      authorize: (_actor: unknown, action: Action) => role === undefined || roles[role](action),
    },
  });
  const fail = () => {
    throw new Error('No more Slack');
  };
  stops = [
    await host.flags.consume('audit', () => undefined),
    await host.flags.consume('slack', fail, { from: 'beginning' }),
  ];
  await seed(host);
  await until(async () => (await host.flags.consumers.list()).items.some(({ error }) => error !== null));
  for (const [name, days] of [['later', 90] as const, ['soon', 3] as const]) {
    const expiresAt = new Date(Date.now() + days * DAY).toISOString();
    await host.flags.tokens.create({ name, kind: 'admin', expiresAt });
  }
});
beforeEach(() => {
  role = undefined;
});
afterEach(() => visited.close());
afterAll(async () => {
  for (const stop of stops) await stop();
  await host.close();
  await disconnectBrowser();
});

async function open(path: string): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  return visited.page;
}

describeInBrowser('the screen of administration', () => {
  it('shows failing consumers first, in red, and the tokens, and every screen says that consumers fail', async () => {
    const page = await open('projects/default');
    await page.getByRole('link', { name: '1 consumer failing' }).click();
    await page.getByRole('heading', { name: 'Administration', level: 1 }).waitFor();
    const consumers = page.getByRole('region', { name: 'Consumers of events' });
    await consumers.getByText('2 consumers, 1 failing').waitFor();
    const names = consumers.locator('tbody th');
    expect(await names.allInnerTexts()).toEqual([expect.stringMatching(/^slack\s+failing$/), 'audit']);
    const [failing, other] = await names.evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
    expect(failing).not.toBe(other);
    await consumers.getByText('No more Slack').waitFor();
    const tokens = page.getByRole('region', { name: 'API tokens' });
    await tokens.getByRole('rowheader', { name: 'soon expires soon' }).waitFor();
    await tokens.getByRole('rowheader', { name: 'later', exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityViolations(page, { onlyColors: true })).toEqual([]);
  });

  it('leaves the events to the events, and opens by the address that tokens had', async () => {
    const page = await open('tokens');
    await page.getByRole('region', { name: 'Consumers of events' }).waitFor();
    expect(await page.getByRole('link', { name: 'Administration' }).getAttribute('aria-current')).toBe('page');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await page.locator('.timeline').waitFor();
    expect(await page.getByRole('region', { name: 'Consumers of events' }).count()).toBe(0);
  });

  it('shows an editor the consumers alone', async () => {
    role = 'editor';
    const page = await open('administration');
    await page.getByRole('region', { name: 'Consumers of events' }).waitFor();
    expect(await page.getByRole('region', { name: 'API tokens' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('shows a viewer nothing of it, in the header neither', async () => {
    role = 'viewer';
    const page = await open('administration');
    await page.getByText('You may see neither consumers nor API tokens').waitFor();
    expect(await page.getByText(/failing/).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    // Viewers may not follow the events.
    visited.expectFault(/status 403: GET .*event-stream/);
  });
});
