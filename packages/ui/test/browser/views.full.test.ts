import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { extent } from '../../../../test/extent.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';
import { outside } from './outside.js';

type Page = Visit['page'];

const FLAG = 'projects/default/flags/checkout';
const NOTHING = '00000000-0000-4000-8000-000000000000';

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost({ router: { auth: () => ({ name: 'ada' }) }, ui: { home: '/', banner: { text: 'Staging' } } });
  await seed(host, 4);
  const checkout = { project: 'default', flag: 'checkout' };
  const constraints = [{ contextName: 'country', operator: 'IN' as const, values: ['DE', 'AT', 'FR', 'NL'] }];
  const { id } = await host.flags.segments.create({ name: 'eu', description: 'Our countries', constraints });
  const target = { ...checkout, flag: 'dark-mode', environment: 'production' };
  await host.flags.addStrategy(target, { name: 'default', segments: [id], constraints });
  await host.flags.setVariants(checkout, [
    { name: 'blue', weightType: 'variable', payload: { type: 'json', value: '{}' } },
    { name: 'green', weightType: 'variable' },
  ]);
  await host.flags.addDependency(target, { flag: 'checkout' });
  await host.flags.archiveFlag({ ...checkout, flag: 'flag-00003' });
  await host.flags.tokens.create({
    name: 'web',
    kind: 'frontend',
    expiresAt: new Date(Date.now() + 1e9).toISOString(),
  });
  for (const userId of [1, 2]) await host.flags.addMember(checkout, { userId, roleId: 3 + userId });
  await host.flags.registerApplication({
    application: 'shop',
    strategies: ['default'],
    url: 'https://shop.example/',
    color: '#00aa77',
  });
  const counted = { start: Date.now() - 1_000, stop: Date.now(), counts: { checkout: { yes: 3, no: 1 } } };
  await host.flags.reportMetrics({ application: 'shop', environment: 'production', ...counted });
  visited = await visit(host.page);
});
afterAll(async () => {
  await visited.close();
  await host.close();
  await disconnectBrowser();
});

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

const type = (key: string) => async (page: Page) => {
  await page.getByRole('switch').first().waitFor();
  // Keys are dead while a dialog is open.
  await page.locator('dialog:modal').waitFor({ state: 'hidden' });
  await page.keyboard.press(key);
};

/** How to open a view, and an element that it then shows. */
type View = readonly [view: string, path: string, act: ((page: Page) => Promise<unknown>) | undefined, shown: string];

const SCREENS: readonly View[] = [
  ['the list of flags', 'projects/default?as=userId%3D7', undefined, '.sparkline path'],
  ['the archive', 'projects/default?show=archived', undefined, 'tbody tr'],
  ['a flag', `${FLAG}?as=userId%3D7`, undefined, '.timeline li'],
  ['the editor', `${FLAG}/production`, undefined, '.strategy-body'],
  ['the segments', 'segments', undefined, 'tbody tr'],
  ['a segment', 'segments/1', undefined, '.uses li'],
  ['the changes', 'changes', undefined, '.empty'],
  ['the events', 'events', undefined, '.timeline li'],
  ['the playground', 'why?as=userId%3D7', undefined, '.explained li'],
  ['the applications', 'applications', undefined, 'tbody tr'],
  ['an application', 'applications/shop', undefined, '.swatch'],
  ['the administration', 'administration', undefined, 'tbody tr'],
  ['all projects', 'projects', undefined, '.projects li'],
  ['the members', 'projects/default/members', undefined, 'tbody tr'],
];

/** The other states of the screens, and their dialogs. */
const STATES: readonly View[] = [
  ['no flag that matches', 'projects/default?q=nothing', undefined, '.empty'],
  ['chosen flags', 'projects/default', (page) => page.getByLabel('Choose checkout').check(), '.bulk'],
  ['a new flag', 'projects/default', press('New flag'), 'dialog[open]'],
  ['the palette', 'projects/default', type('Control+k'), '[role=option]'],
  ['the keys', 'projects/default', type('?'), '.keys'],
  ['view as', 'projects/default', press('View as…'), 'dialog[open]'],
  ['the details', FLAG, press('Details…'), 'dialog[open]'],
  ['a clone', FLAG, press('Clone…'), 'dialog[open]'],
  ['the question before the archive', FLAG, press('Archive…'), 'dialog[open]'],
  ['the variants', FLAG, press('Edit variants'), '.variant-row'],
  ['a parent', 'projects/default/flags/old-banner', press('Add a parent'), 'dialog[open]'],
  ['the review of a switch', FLAG, (page) => page.getByRole('switch').first().click(), 'dialog[open] .effect b'],
  ['the question before a revert', FLAG, press(/^Revert: /), 'dialog[open]'],
  ['a flag as it was', `${FLAG}?asOf=2100-01-01T00:00:00Z`, undefined, '.environment-card'],
  ['no such flag', 'projects/default/flags/nothing', undefined, '[role=alert]'],
  ['the users of the preview', `${FLAG}/production`, press('Edit the list'), 'dialog[open]'],
  [
    'the preview of a draft',
    `${FLAG}/production`,
    (page) => page.getByLabel('Rollout of strategy 1 in percent').fill('60'),
    '.people tr',
  ],
  ['the editor of a segment', 'segments/1/edit', undefined, '.constraint'],
  ['a new segment', 'segments/new', press('Constraint'), '.constraint'],
  ['a segment in use', 'segments/1', press('Delete…'), 'dialog[open]'],
  ['no event that matches', 'events?who=nobody', undefined, '.empty'],
  ['no such change', `events/${NOTHING}`, undefined, '[role=alert]'],
  ['an explanation', 'why?as=userId%3D7&flag=dark-mode', undefined, '.explained li'],
  ['the question before an application is forgotten', 'applications/shop', press('Forget…'), 'dialog[open]'],
  ['a new token', 'administration', press('New token'), 'dialog[open]'],
  ['a new member', 'projects/default/members', press('Add member'), 'dialog[open]'],
  ['no such page', 'no/such/page', undefined, 'main h1'],
];

const VIEWS = extent({ short: SCREENS, full: [...SCREENS, ...STATES] });
/** In full, the dark colors and those that a system forces are tried too, and all rules again on the narrow page. */
const DARK_COLORS = extent({ short: [], full: ['none', 'active'] } as const);
const NARROW_RULES = extent({ short: false, full: true });
const WIDE = { width: 1280, height: 720 };
/** 400 % of a window of 1280 pixels. */
const NARROW = { width: 320, height: 256 };

/** Opens an address like a link: the page is not loaded again. Dialogs close. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((target) => {
    history.pushState(null, '', target);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `${host.page}${path}`);
}

describeInBrowser('every screen in every state', () => {
  beforeEach(async () => {
    const { page } = visited;
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
    // Nothing of the previous screen is left.
    await follow(page, 'no/such/page');
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  });

  it.each(VIEWS)('has no accessibility violation in any colors, and at 400 %%: %s', async (_, path, act, shown) => {
    const { page } = visited;
    await follow(page, path);
    await act?.(page);
    await page.locator(shown).first().waitFor({ state: 'attached' });
    for (const forcedColors of DARK_COLORS) {
      await page.emulateMedia({ colorScheme: 'dark', forcedColors });
      expect(await accessibilityViolations(page, { onlyColors: true })).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none' });
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.setViewportSize(NARROW);
    if (NARROW_RULES) expect(await accessibilityViolations(page)).toEqual([]);
    expect(await outside(page)).toEqual([]);
    visited.expectFault(/status 404/);
  });
});
