import type { Change } from '@flags/core';
import { accessibilityViolations, type Visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import {
  approveAs,
  cardOf,
  checkout,
  clock,
  closeLast,
  DISABLE,
  ENABLE,
  HOUR,
  host,
  inHours,
  isOn,
  lastVisit,
  open,
  requestAs,
  requests,
  start,
  switchOf,
  TITLE,
} from './colleagues.js';
import { choose, describeInBrowser } from './host.js';
import { outside } from './outside.js';

describeInBrowser('a request with a time', () => {
  /** Starts to switch checkout off in production, and chooses a time in the review. */
  async function reviewForLater(page: Visit['page']) {
    await switchOf(page, 'checkout').click();
    const dialog = page.getByRole('dialog');
    await choose(dialog.getByLabel('At a time'));
    return dialog;
  }

  it('is for a time of the local zone, which the flag then shows, and can be withdrawn', async () => {
    await start({ required: 0 });
    const page = await open('ada', 'projects/default/flags/checkout', { timezoneId: 'America/New_York' });
    const dialog = await reviewForLater(page);
    const day = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10);
    await dialog.getByLabel('Time', { exact: true }).fill(`${day}T09:30:00`);
    await dialog.getByText(/^Applied on .* 9:30.* \(.+\)\. What others change/).waitFor();
    await dialog.getByText('In the time zone America/New_York').waitFor();
    await dialog.getByLabel('Only if nothing else has changed it until then').check();
    await dialog.getByText(/It fails if somebody changes the same flags or segments before\./).waitFor();
    await dialog.getByText('As code').click();
    await dialog.getByText('/api/admin/change-requests').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('After the campaign');
    await dialog.getByRole('button', { name: /^Schedule for .* 9:30/ }).click();
    await page.getByText(/^Requested\. Nothing has changed yet: it is applied on .* 9:30.*\.$/).waitFor();
    const items = await requests();
    expect(items).toMatchObject([{ state: 'approved', ifUnchanged: true, reason: 'After the campaign' }]);
    const [made] = items;
    expect([`${day}T13:30:00.000Z`, `${day}T14:30:00.000Z`]).toContain(made?.at);
    expect(Date.parse(made?.notAfter ?? '') - Date.parse(made?.at ?? '')).toBe(HOUR);
    expect(await isOn('checkout')).toBe(true);
    await cardOf(page).getByText('Scheduled', { exact: true }).waitFor();
    await cardOf(page).getByText('After the campaign').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show the request' }).click();
    await page.getByRole('region', { name: 'What it would do now' }).getByText('production · enabled').waitFor();
    await page.getByRole('button', { name: /^Withdraw/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).click();
    await page.getByText('The request was withdrawn.').waitFor();
    expect(await requests()).toMatchObject([{ state: 'withdrawn' }]);
  });

  it('waits for its approvals, too, and says so beforehand', async () => {
    await start();
    const page = await open('ada', 'projects/default/flags/dark-mode');
    await switchOf(page, 'dark-mode').click();
    const dialog = page.getByRole('dialog');
    await choose(dialog.getByLabel('At a time'));
    await dialog
      .getByText(/^production needs approval: .* Applied on .* Without its approvals an hour later, it expires\.$/)
      .waitFor();
    await dialog.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByText(/^Requested\. Nothing has changed yet: somebody else must approve it\.$/).waitFor();
    const [made] = await requests();
    await cardOf(page)
      .getByText(/^1 person must approve it\. Then it is applied on /)
      .waitFor();
    await requestAs('ada', 'Without a time');
    await page.goto(`${host.page}changes`);
    const entries = page.getByRole('region', { name: 'Next' }).locator('.timeline > li');
    await entries.nth(1).getByText('Without a time').waitFor();
    await entries
      .nth(0)
      .getByText(/^1 person must approve it\. Then it is applied on /)
      .waitFor();
    await approveAs('grace', `${made?.id}`);
    clock.ahead = Date.parse(made?.at ?? '') + 1_000 - Date.now();
    await host.flags.runDue();
    expect(await isOn('dark-mode')).toBe(true);
  });

  it('clears the draft of the editor, and leads to the request, which the history of its change names', async () => {
    await start({ required: 0 });
    const page = await open('ada', 'projects/default/flags/checkout/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await choose(page.getByRole('dialog').getByLabel('At a time'));
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    expect(await page.getByText('You have an unsaved draft').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the request' }).click();
    await page.getByRole('heading', { name: 'Change a strategy of checkout in production' }).waitFor();
    await page.locator('.differences ins').getByText('60').waitFor();
    // Another edit of the flag moves its revision, which the request does not expect.
    await host.flags.updateFlag(checkout, { description: 'Changed by bob' });
    const [made] = await requests();
    clock.ahead = Date.parse(made?.at ?? '') + 1_000 - Date.now();
    expect((await host.flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
    await page.getByText('Applied', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Show the change' }).click();
    await page.getByRole('heading', { name: /^Change of/ }).waitFor();
    await page.locator('.differences ins').getByText('60').waitFor();
    await page.goto(`${host.page}projects/default/flags/checkout`);
    await page
      .getByRole('region', { name: 'History' })
      .getByRole('link', { name: 'Change a strategy of checkout in production' })
      .waitFor();
  });

  it('is no choice without the permission, or while nothing is applied at a time', async () => {
    let mayRequest = true;
    await start({ required: 0, denies: (action) => !mayRequest && action === 'createChangeRequest' });
    const page = await open('ada', 'projects/default/flags/checkout');
    const dialog = await reviewForLater(page);
    await dialog.getByLabel('Time', { exact: true }).fill('2020-01-01T09:30:00');
    await dialog.getByText(/^This time has passed, so it is applied at once\./).waitFor();
    await dialog.getByRole('button', { name: /^Schedule/ }).click();
    await dialog.getByRole('alert').waitFor();
    expect(lastVisit().expectFault(/status 400/)).toBe(1);
    await page.keyboard.press('Escape');
    const isAbsent = async (on: Visit['page']) => {
      await switchOf(on, 'checkout').click();
      await on.getByRole('dialog').getByLabel('Reason').waitFor();
      expect(await on.getByLabel('At a time').count()).toBe(0);
    };
    mayRequest = false;
    await page.reload();
    await isAbsent(page);
    await closeLast();
    await host.close();
    await start({ required: 0, due: { run: false } });
    await isAbsent(await open('ada', 'projects/default'));
  });

  it('is listed live by its time, then as ended with what to do, and can be requested again', async () => {
    await start({ required: 0 });
    await host.flags.createProject({ id: 'other', name: 'Other' });
    const page = await open('ada', 'projects/default');
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    const bob = host.flags.as('bob').changeRequests;
    await bob.create([DISABLE], { at: inHours(3), reason: 'The second' });
    await bob.create([DISABLE], { at: inHours(2), reason: 'The first', ifUnchanged: true });
    const next = page.getByRole('region', { name: 'Next' });
    await next.locator('.timeline > li:nth-child(2)').waitFor();
    expect(await next.locator('.reason').allTextContents()).toEqual(['The first', 'The second']);
    await host.flags.updateFlag(checkout, { description: 'Changed by bob' });
    clock.ahead = 2 * HOUR + 60_000;
    await host.flags.runDue();
    await page.getByText('Show the ended requests').click();
    const ended = page.getByRole('region', { name: 'Ended' });
    await ended
      .getByText(
        /^Nothing was changed\. The flag checkout is not as it was .* If the change still fits, request it again\.$/,
      )
      .waitFor();
    clock.ahead = 5 * HOUR;
    await host.flags.runDue();
    await ended.getByText(/^Nothing was changed: it could not be applied until /).waitFor();
    await next.waitFor({ state: 'detached' });
    expect(await ended.locator('.reason').allTextContents()).toEqual(['The second', 'The first']);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel('Flag', { exact: true }).fill('dark');
    await page.getByText('No request has ended in the last 90 days.').waitFor();
    await page.getByRole('button', { name: 'Remove the filter' }).click();
    await page.getByLabel('Project').selectOption('Other');
    await page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await page.getByLabel('Project').selectOption('All projects');
    await page.getByText('Show the ended requests').click();
    await ended.getByRole('link', { name: 'Disable checkout in production' }).first().click();
    await page.getByRole('button', { name: /^Request again/ }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('The change was made.').waitFor();
    expect(await isOn('checkout')).toBe(false);
  });

  inFull('shows the refusal of a server that applies nothing at a time any more', async () => {
    await start({ required: 0 });
    const page = await open('ada', 'projects/default');
    const body = JSON.stringify({ code: 'due_disabled', message: 'Nothing is applied at a time here.' });
    await page.route(/admin\/change-requests$/, (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 409, body }) : route.continue(),
    );
    const dialog = await reviewForLater(page);
    await dialog.getByRole('button', { name: /^Schedule for/ }).click();
    await dialog.getByText(/^This service applies nothing at a time\. Apply the changes now/).waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
  });
});

describeInBrowser('the changes', () => {
  async function checkWindows(colorScheme: 'light' | 'dark'): Promise<void> {
    await start();
    const long = { project: 'default', flag: 'n'.repeat(100) };
    await host.flags.createFlag(long, { name: long.flag });
    const update: Change = { op: 'updateFlag', ref: long, input: { description: 'w'.repeat(200) } };
    await host.flags.changeRequests.create([update, DISABLE], { at: inHours(1), reason: 'r'.repeat(200) });
    await host.flags.as('ada').changeRequests.create([ENABLE], { reason: 'r'.repeat(200) });
    const { id } = await host.flags.as('a'.repeat(90)).changeRequests.create([ENABLE], { reason: 'Long name' });
    await approveAs('g'.repeat(90), id);
    for (const width of [390, 1_280]) {
      const page = await open('root', 'changes', { viewport: { width, height: 800 }, colorScheme });
      await page.getByRole('region', { name: 'Waiting for you' }).waitFor();
      const check = async () => {
        expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
        expect(await accessibilityViolations(page, { onlyColors: colorScheme === 'dark' })).toEqual([]);
      };
      await page.getByRole('link', { name: TITLE, exact: true }).first().waitFor();
      await check();
      await page.getByRole('button', { name: 'Change which environments need approval' }).click();
      await page.getByRole('dialog').waitFor();
      await check();
      await page.goto(`${host.page}changes/${id}`);
      await page.getByText('1 of 1 approval').waitFor();
      await check();
      await page.goto(`${host.page}projects/default/flags/dark-mode`);
      await switchOf(page, 'dark-mode').click();
      await choose(page.getByRole('dialog').getByLabel('At a time'));
      await check();
      await closeLast();
    }
  }

  inFull('stay within every window, in the light', () => checkWindows('light'));

  inFull('stay within every window, in the dark', () => checkWindows('dark'));

  inFull('are shown more on demand, and one that does not exist is reported', async () => {
    await start({ required: 0 });
    for (let number = 0; number < 31; number++) {
      await host.flags.changeRequests.create([DISABLE], { at: inHours(1 + number) });
    }
    const page = await open('ada', 'changes');
    await page.getByText('31 changes').waitFor();
    expect(await page.locator('.timeline > li').count()).toBe(30);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('.timeline > li:nth-child(31)').waitFor();
    await page.goto(`${host.page}changes/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('alert').waitFor();
    expect(lastVisit().expectFault(/status 404/)).toBeGreaterThan(0);
  });
});
