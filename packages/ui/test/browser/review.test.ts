import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull, isFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';

const checkout = { project: 'default', flag: 'checkout', environment: 'production' };
const child = { ...checkout, flag: 'dark-mode' };
const everyone = { name: 'default' } as const;

let host: Host;
let visited: Visit;

async function start(options?: HostOptions): Promise<void> {
  host = await startHost(options);
  await seed(host);
}

async function open(path: string): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  return visited.page;
}

afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

/** The lines of the review about clients. */
const noticed = (page: Visit['page']) => page.getByRole('list', { name: 'What clients notice' }).locator('li');

let isChecked = false;

/** Waits for the review with the effects on clients, and returns the dialog. The short form checks the accessibility of one. */
async function isAsked(page: Visit['page'], ...lines: readonly string[]) {
  await noticed(page).first().waitFor();
  expect(await noticed(page).allTextContents()).toEqual(lines);
  if (isFull || !isChecked) expect(await accessibilityViolations(page)).toEqual([]);
  isChecked = true;
  const dialog = page.getByRole('dialog').last();
  // The counts move the buttons below them: a click before their arrival may miss.
  const hasCounts = lines.some((line) => !line.endsWith('that you may not read'));
  if (hasCounts) await dialog.getByText(/^Counted over /).waitFor();
  return dialog;
}

/** Waits for the review with the effects on one flag in several environments, and returns the dialog. */
async function isAskedInTable(page: Visit['page'], flag: string, ...cells: readonly RegExp[]) {
  const table = page.getByRole('table', { name: 'What clients notice' });
  const row = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: flag, exact: true }) });
  for (const [index, cell] of cells.entries()) {
    await row.getByRole('cell').nth(index).filter({ hasText: cell }).waitFor();
  }
  return page.getByRole('dialog').last();
}

async function isOn({ flag, environment }: typeof checkout): Promise<boolean> {
  const { environments } = await host.flags.getFlag({ project: 'default', flag });
  return environments.some(({ name, enabled }) => name === environment && enabled);
}

describeInBrowser('a review with the effects on clients', () => {
  beforeEach(() => start());

  it('opens before variants of a flag that is on in production', async () => {
    const page = await open('projects/default/flags/checkout');
    const edit = page.getByRole('button', { name: 'Edit variants' });
    await edit.click();
    await page.getByRole('button', { name: 'Add a variant' }).click();
    await page.getByLabel('Name').fill('blue');
    await page.getByRole('button', { name: 'Save variants' }).click();
    const dialog = await isAskedInTable(page, 'checkout', /^on, changes ~[\d,]+$/, /^on, changes ~[\d,]+$/);
    expect(await dialog.getByRole('columnheader').allTextContents()).toEqual(['Flag', 'production', 'development']);
    await dialog.locator('.differences').getByText('variants · blue').waitFor();
    await dialog.locator('ins').getByText('100 %').waitFor();
    expect((await host.flags.getFlag(checkout)).variants).toEqual([]);
    await dialog.getByLabel('Reason').fill('A test of colors');
    await dialog.getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('The variants of checkout were saved.').waitFor();
    const { items: events } = await host.flags.events.list({ limit: 1 });
    expect(events[0]).toMatchObject({ type: 'variants-updated', reason: 'A test of colors' });
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await edit.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  inFull('opens before the archive of a flag that is on, once', async () => {
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('button', { name: 'Archive…' }).click();
    const dialog = await isAskedInTable(page, 'checkout', /^on → gone −[\d,]+$/, /^on → gone −[\d,]+$/);
    await dialog.locator('.differences').getByText('archived').waitFor();
    await dialog.getByRole('button', { name: 'Confirm: archive checkout' }).click();
    await page.getByText('This flag is archived').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  inFull('opens before a dependency is removed or added', async () => {
    await host.flags.addStrategy(child, everyone);
    await host.flags.enable(child);
    await host.flags.addDependency(child, { flag: 'old-banner' });
    const page = await open('projects/default/flags/dark-mode');
    await page.getByRole('button', { name: 'Remove the dependency on old-banner' }).click();
    const dialog = await isAsked(page, 'production: 1 flag goes on: dark-mode');
    await dialog.locator('.differences').getByText('dependencies · old-banner').waitFor();
    await dialog.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('dark-mode does not depend on old-banner any more.').waitFor();
    await page.getByRole('button', { name: 'Add a parent' }).click();
    await page.getByLabel('Parent', { exact: true }).fill('old-banner');
    await page.getByRole('button', { name: 'Add parent' }).click();
    await isAsked(page, 'production: 1 flag goes off: dark-mode');
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('dark-mode depends on old-banner.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('opens before a revert, in the direction that it takes, also by Undo', async () => {
    await host.flags.disable(checkout);
    await host.flags.enable(checkout);
    const page = await open('projects/default/flags/checkout');
    const revert = page.getByRole('button', { name: /^Revert: / });
    await revert.nth(0).click();
    const dialog = await isAsked(page, 'production: 1 flag goes off: checkout');
    await dialog.getByText('now on for 233 → then for 0').waitFor();
    await dialog.getByText('Counted over 1,000 made-up users.').waitFor();
    const earlier = await revert.count();
    const difference = dialog.locator('.differences li');
    expect(await difference.allTextContents()).toEqual(['production · enabledon→off']);
    expect(await isOn(checkout)).toBe(true);
    await dialog.getByLabel('Reason').fill('Too early');
    await dialog.getByRole('button', { name: 'Confirm: revert' }).click();
    await page.getByText('The change was reverted.').waitFor();
    expect(await isOn(checkout)).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await isAsked(page, 'production: 1 flag goes on: checkout');
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('switch', { name: 'checkout in production', checked: true }).waitFor();
    expect(await isOn(checkout)).toBe(true);
    // The page reports a forbidden revert instead of asking. The timeline then shows both reverts.
    await revert.nth(earlier + 1).waitFor();
    await revert.nth(3).click();
    await page
      .locator('.toasts')
      .getByText(/changed again|cannot be undone/)
      .waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    visited.expectFault(/status 409/);
  });

  it('shows a refusal once: in the review, not beside it', async () => {
    const page = await open('projects/default');
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    const dialog = await isAsked(page, 'production: 1 flag goes off: checkout');
    await host.flags.updateFlag(checkout, { description: 'Changed by bob' });
    const confirm = dialog.getByRole('button', { name: 'Change production' });
    const refusal = page.getByText('Somebody else has changed this in the meantime');
    for (const attempt of [1, 2]) {
      // The first refusal is still shown while the second request runs.
      const answered = page.waitForResponse((response) => response.status() === 412);
      await confirm.click();
      await answered;
      await refusal.waitFor();
      expect([attempt, await refusal.count(), await page.getByRole('alert').count()]).toEqual([attempt, 1, 1]);
    }
    expect(await dialog.getByRole('alert').count()).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
    await until(() => visited.expectFault(/status 412/) === 2);
  });

  inFull('opens before production goes off, but not before a new flag or before development goes off', async () => {
    const page = await open('projects/default');
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    await isAsked(page, 'production: 1 flag goes off: checkout');
    await page.keyboard.press('Escape');
    await page.getByRole('switch', { name: 'checkout in development', exact: true }).click();
    await page.getByText('checkout is off in development.').waitFor();
    await page.getByRole('button', { name: 'New flag' }).click();
    await page.getByLabel('Name').fill('fresh');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('heading', { name: 'fresh', level: 1 }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('starts at its summary, lists what changes, and counts the other flags', async () => {
    const { id } = await host.flags.segments.create({
      name: 'shared',
      constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }],
    });
    for (let number = 0; number < 31; number++) {
      const ref = { ...checkout, flag: `off-${number}` };
      await host.flags.createFlag(ref, { name: ref.flag });
      await host.flags.addStrategy(ref, { name: 'default', segments: [id] });
    }
    await host.flags.createFlag(checkout, { name: 'eu' });
    await host.flags.addStrategy({ ...checkout, flag: 'eu' }, { name: 'default', segments: [id] });
    await host.flags.enable({ ...checkout, flag: 'eu' });
    const page = await open(`segments/${id}/edit`);
    await page.setViewportSize({ width: 800, height: 320 });
    await page.getByRole('button', { name: 'Remove AT' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = await isAsked(page, 'production: 1 flag is on, and changes: eu');
    await dialog.getByText('31 flags: nobody changes in production.').waitFor();
    expect(await dialog.locator('.flag-counts').count()).toBe(1);
    expect(await dialog.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    const [head, summary, foot] = await dialog
      .locator('.dialog-head, .noticed, .dialog-foot')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })));
    expect(summary?.top).toBeGreaterThanOrEqual(head?.bottom ?? Infinity);
    expect(summary?.bottom).toBeLessThanOrEqual(foot?.top ?? 0);
  });

  it('opens before a change of a segment in use, and says that nobody notices another one', async () => {
    const constraints = [{ contextName: 'country', operator: 'IN' as const, values: ['DE'] }];
    const [used, unused] = [
      await host.flags.segments.create({ name: 'used', constraints }),
      await host.flags.segments.create({ name: 'unused', constraints }),
    ];
    await host.flags.addStrategy(checkout, { name: 'default', segments: [used.id] });
    const page = await open(`segments/${used.id}/edit`);
    await page.getByLabel('Constraint 1: add a value').fill('AT');
    await page.getByLabel('Constraint 1: add a value').press('Enter');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await isAsked(page, 'production: 1 flag is on, and changes: checkout');
    await page.keyboard.press('Escape');
    await page.goto(`${host.page}segments/${unused.id}/edit`);
    await page.getByLabel('Description').fill('For later');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByText('Clients notice nothing.').waitFor();
    await page.getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('The segment unused was changed.').waitFor();
  });
});

describeInBrowser('the reviewed environment', () => {
  inFull('is the last one by default, if none is called production', async () => {
    host = await startHost({ environments: [{ name: 'test' }, { name: 'live' }] });
    await host.flags.createFlag(checkout, { name: 'checkout' });
    const page = await open('projects/default');
    await page.getByRole('switch', { name: 'checkout in test' }).click();
    await page.getByText('checkout is on in test.').waitFor();
    await page.getByRole('switch', { name: 'checkout in live' }).click();
    const dialog = await isAsked(page, 'live: 1 flag goes on: checkout');
    await dialog.getByRole('button', { name: 'Change live' }).click();
    await page.getByText('checkout is on in live.').waitFor();
  });

  it('counts flags that the caller may not read, and opens the review for them', async () => {
    await start({
      router: {
        auth: () => ({ name: 'eve' }),
        authorize: (_actor: unknown, action: string, project: string | null) =>
          project !== 'secret' || action !== 'previewChanges',
      },
    });
    const { id } = await host.flags.segments.create({ name: 'shared', constraints: [] });
    const hidden = { project: 'secret', flag: 'hidden', environment: 'development' };
    await host.flags.createProject({ id: 'secret', name: 'Secret' });
    await host.flags.createFlag(hidden, { name: 'hidden' });
    await host.flags.addStrategy(hidden, { name: 'default', segments: [id] });
    await host.flags.enable(hidden);
    const page = await open(`segments/${id}/edit`);
    await page.getByRole('button', { name: 'Constraint', exact: true }).click();
    await page.getByLabel('Constraint 1: field').fill('country');
    await page.getByLabel('Constraint 1: add a value').fill('AT');
    await page.getByLabel('Constraint 1: add a value').press('Enter');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await isAsked(page, '1 difference in flags that you may not read');
  });
});
