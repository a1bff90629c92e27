import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost();
  await seed(host, 60);
});
afterAll(async () => {
  await disconnectBrowser();
  await host.close();
});
afterEach(() => visited.close());

async function open(path = 'projects/default'): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  await visited.page.getByRole('heading', { level: 1 }).waitFor();
  return visited.page;
}

const press = (...keys: string[]) =>
  keys.reduce((before, key) => before.then(() => visited.page.keyboard.press(key)), Promise.resolve());
/** The label or the text of the control with the focus. */
const focused = () =>
  visited.page.evaluate(() => {
    const { activeElement: element } = document;
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : element?.textContent;
    return (element?.getAttribute('aria-label') ?? label ?? '').trim();
  });

async function isFocused(name: string): Promise<void> {
  await until(async () => (await focused()) === name);
}

/** Opens the palette, and types when its field has the focus: letters before that are keys of the page. */
async function find(text: string): Promise<void> {
  await press('Control+k');
  await isFocused('Find flags, pages and actions');
  await visited.page.keyboard.type(text);
}

/** Presses Tab until a control has the focus. */
async function tabTo(name: RegExp): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await press('Tab');
    if (name.test(await focused())) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

async function rollout(): Promise<unknown> {
  const { environments } = await host.flags.getFlag({ project: 'default', flag: 'checkout' });
  const production = environments.find(({ name }) => name === 'production');
  return [production?.strategies[0]?.parameters?.rollout, production?.strategies[0]?.constraints.length];
}

describeInBrowser('the keyboard alone', () => {
  it('targets, previews, reviews and undoes a change', async () => {
    const page = await open();
    await page.getByText('60 flags').waitFor();
    await press('/');
    await page.keyboard.type('checkout');
    await page.getByText('1 of 60 flags').waitFor();
    await press('Enter');
    await isFocused('checkout');
    await press('Enter');
    await page.getByRole('link', { name: 'Edit production' }).waitFor();
    await find('edit production');
    await page.getByRole('option', { name: 'Edit production', selected: true }).waitFor();
    await press('Enter');
    await isFocused('checkout in production');
    await page.getByLabel('Rollout of strategy 1 in percent').waitFor();
    await tabTo(/^Rollout of strategy 1 in percent$/);
    await page.keyboard.type('50');
    await tabTo(/^Constraint$/);
    await press('Enter');
    await tabTo(/^Constraint 1: field$/);
    await page.keyboard.type('country');
    await tabTo(/^Constraint 1: add a value$/);
    await page.keyboard.type('DE');
    await press('Enter');
    await page.getByText(/\d+ become off/).waitFor();
    await find('review changes');
    await page.getByRole('option', { name: 'Review changes', selected: true }).waitFor();
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Review changes of checkout' });
    await dialog.getByText('become off').waitFor();
    await tabTo(/^Change production$/);
    await press('Enter');
    await isFocused('checkout');
    expect(await rollout()).toEqual([50, 1]);
    await find('undo the latest');
    await page.getByRole('option', { name: 'Undo the latest change', selected: true }).waitFor();
    await press('Enter');
    await page.getByRole('dialog', { name: 'Revert the change' }).waitFor();
    await tabTo(/^Change production$/);
    await press('Enter');
    await page.getByText('The change was reverted.').waitFor();
    expect(await rollout()).toEqual([25, 0]);
  });

  it('shows in the palette what Enter does, and asks where a switch asks', async () => {
    const page = await open();
    await page.getByRole('switch', { name: 'dark-mode in production' }).waitFor();
    await page.getByText('60 flags').waitFor();
    await find('dark-mode');
    // The flag comes first: Enter opens it, and never switches it.
    await page.getByRole('option', { name: /^dark-mode /, selected: true }).waitFor();
    await page.getByRole('option', { name: 'Switch on dark-mode in development', exact: true }).waitFor();
    await page.getByLabel('Find flags, pages and actions').fill('switch dark-mode production');
    await page.getByRole('option', { name: 'Switch on dark-mode in production', selected: true }).waitFor();
    await press('Enter');
    await page.getByRole('dialog', { name: 'Enable dark-mode in production' }).waitFor();
    await press('Escape');
    await page.locator('dialog:modal').waitFor({ state: 'hidden' });
    await press('Control+k');
    await isFocused('Find flags, pages and actions');
    // Typed at once: Enter waits for the flags.
    await page.getByLabel('Find flags, pages and actions').fill('dark-mode');
    await press('Enter');
    await isFocused('dark-mode');
    expect(page.url()).toContain('/flags/dark-mode');
    const { environments } = await host.flags.getFlag({ project: 'default', flag: 'dark-mode' });
    expect(environments.map(({ enabled }) => enabled)).toEqual([false, false]);
  });

  inFull('creates a flag, and returns the focus to the control that opened a dialog', async () => {
    const page = await open();
    // The palette has the actions that the page offers when it opens.
    await page.getByRole('button', { name: 'New flag', disabled: false }).waitFor();
    await find('new flag');
    await page.getByRole('option', { name: 'New flag', selected: true }).waitFor();
    await press('Enter');
    await isFocused('Name');
    await press('Escape');
    await isFocused('New flag');
    await press('Enter');
    await isFocused('Name');
    await page.keyboard.type('a-typed-one');
    await press('Enter');
    await isFocused('a-typed-one');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await host.flags.archiveFlag({ project: 'default', flag: 'a-typed-one' });
  });

  inFull('moves through the rows, selects and opens them', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'checkout' }).waitFor();
    await press('j', 'j');
    await isFocused('dark-mode');
    await press('k');
    // Rows that are not in the page yet appear as the focus moves, and are not covered by the bars.
    for (let row = 3; row < 56; row++) {
      await isFocused(row === 3 ? 'checkout' : row === 4 ? 'dark-mode' : `flag-${String(row - 2).padStart(5, '0')}`);
      await press('j');
    }
    await isFocused('flag-00054');
    const place = await page.evaluate(() => document.activeElement?.getBoundingClientRect().bottom ?? 0);
    expect(place).toBeLessThan(720);
    await press('Enter');
    await isFocused('flag-00054');
    expect(page.url()).toContain('/flags/flag-00054');
  });

  inFull('shows all keys', async () => {
    const page = await open('projects/default/flags/checkout');
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('has the names that tests and assistive technology rely on', async () => {
    const page = await open();
    const dialog = page.getByRole('dialog');
    // Each of them exists once; several would be refused here.
    const carriesOut = dialog.getByRole('button', { name: /^(Change|Apply|Confirm)/ });
    await page.getByRole('searchbox').waitFor();
    await page.getByRole('switch', { name: 'checkout in development', exact: true }).waitFor();
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    await carriesOut.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByLabel('Choose checkout').check();
    await page.getByRole('button', { name: 'Mark stale' }).click();
    await carriesOut.waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.goto(`${host.page}projects/default/flags/checkout`);
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Archive…' }).click();
    await carriesOut.waitFor();
  });

  inFull('has letter shortcuts that can be switched off, and that do nothing in fields and dialogs', async () => {
    const page = await open();
    await press('/');
    await page.keyboard.type('gfvx?');
    expect(await page.getByRole('searchbox').inputValue()).toBe('gfvx?');
    await page.goto(`${host.page}projects/default`);
    await page.getByRole('link', { name: 'checkout' }).waitFor();
    await press('?');
    await page.getByLabel('Single-letter keys').waitFor();
    await press('j', 'Space', 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await press('?', 'k', 'j');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.reload();
    await page.getByRole('link', { name: 'checkout' }).waitFor();
    await press('?', 'Control+k');
    await page.getByRole('dialog', { name: 'Find' }).waitFor();
  });

  inFull('opens a palette with flags, pages and every action of the page', async () => {
    const page = await open('projects/default/flags/dark-mode');
    await page.getByRole('switch', { name: 'dark-mode in production' }).waitFor();
    // The palette has the actions that the page offers when it opens.
    await page.getByRole('button', { name: 'Archive…', disabled: false }).waitFor();
    await find('');
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    await option(/^flag-000/)
      .first()
      .waitFor();
    for (const name of ['dark-mode in production', 'Edit production', 'Archive…', 'Events', 'Keyboard shortcuts'])
      expect(await option(name).count()).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.type('flag-00042');
    await page.getByRole('option', { name: /^flag-00042/, selected: true }).waitFor();
    await press('Enter');
    await isFocused('flag-00042');
    await find('no such thing');
    await page.getByText('Nothing found').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await press('Enter', 'Control+k');
    await isFocused('flag-00042');
  });
});
