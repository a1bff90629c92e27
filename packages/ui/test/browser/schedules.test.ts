import type { Change, Flags } from '@flags/core';
import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';
import { outside } from './outside.js';

const HOUR = 3_600_000;
const production = { project: 'default', flag: 'checkout', environment: 'production' };
const DISABLE: Change = { op: 'disable', ref: production };

let host: Host;
let visited: Visit;
/** The clock of the engine is ahead of that of the browser by this number of milliseconds. */
let ahead = 0;

async function start(options: HostOptions = {}): Promise<void> {
  ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  host = await startHost({ runSchedules: 'elsewhere', now, ...options });
  await seed(host);
}

async function open(path: string, options?: VisitOptions): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`, options);
  return visited.page;
}

afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

function inHours(count: number): string {
  return new Date(Date.now() + count * HOUR).toISOString();
}

async function isOn(): Promise<boolean | undefined> {
  const { environments } = await host.flags.getFlag(production);
  return environments.find(({ name }) => name === 'production')?.enabled;
}

async function schedules(): ReturnType<Flags['listSchedules']> {
  return host.flags.listSchedules();
}

/** Starts to switch checkout off in production, and chooses a time in the review. */
async function reviewForLater(page: Visit['page']) {
  await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('At a time').check();
  return dialog;
}

describeInBrowser('a review', () => {
  it('schedules a change for a time of the local zone, which the flag then shows, and can cancel', async () => {
    await start();
    const page = await open('projects/default/flags/checkout', { timezoneId: 'America/New_York' });
    const dialog = await reviewForLater(page);
    const day = new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10);
    await dialog.getByLabel('Time', { exact: true }).fill(`${day}T09:30:00`);
    await dialog.getByText(/^Applied on .* 9:30.* \(.+\)\. What others change/).waitFor();
    await dialog.getByText('In the time zone America/New_York').waitFor();
    await dialog.getByLabel('Only if nothing else has changed it until then').check();
    await dialog.getByText('It fails if somebody changes the same flags or segments before.').waitFor();
    await dialog.getByText('As code').click();
    await dialog.getByText('/api/admin/schedules').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('After the campaign');
    await dialog.getByRole('button', { name: /^Schedule for .* 9:30/ }).click();
    await page.getByText(/^Scheduled for .* 9:30.*\. Nothing has changed yet\.$/).waitFor();
    const { items } = await schedules();
    expect(items).toMatchObject([{ state: 'pending', ifUnchanged: true, reason: 'After the campaign' }]);
    const [made] = items;
    expect([`${day}T13:30:00.000Z`, `${day}T14:30:00.000Z`]).toContain(made?.at);
    expect(Date.parse(made?.notAfter ?? '') - Date.parse(made?.at ?? '')).toBe(HOUR);
    expect(await isOn()).toBe(true);
    const card = page.getByRole('region', { name: 'Coming up' });
    await card.getByText('production · enabled').waitFor();
    await card.getByText('After the campaign').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await card.getByRole('button', { name: /^Cancel the schedule/ }).click();
    await page.getByRole('button', { name: 'Confirm: cancel the schedule' }).click();
    await page.getByText('The schedule was cancelled.').waitFor();
    await card.waitFor({ state: 'detached' });
    expect((await schedules()).items).toMatchObject([{ state: 'cancelled' }]);
  });

  it('clears the draft of the editor, and leads to the schedule, which the history of its change names', async () => {
    await start();
    const page = await open('projects/default/flags/checkout/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByLabel('At a time').check();
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    expect(await page.getByText('You have an unsaved draft').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the schedule' }).click();
    await page.getByRole('heading', { name: /^Schedule of/ }).waitFor();
    await page.locator('.differences ins').getByText('60').waitFor();
    // Another edit of the flag moves its revision, which the schedule does not expect.
    await host.flags.updateFlag(production, { description: 'Changed by bob' });
    const [made] = (await schedules()).items;
    ahead = Date.parse(made?.at ?? '') + 1_000 - Date.now();
    expect((await host.flags.runDue()).items).toMatchObject([{ state: 'applied' }]);
    await page.getByText('Applied', { exact: true }).waitFor();
    await page.getByRole('link', { name: /^Show the change/ }).click();
    await page.getByRole('heading', { name: /^Change of/ }).waitFor();
    await page.locator('.differences ins').getByText('60').waitFor();
    await page.goto(`${host.page}projects/default/flags/checkout`);
    await page.getByRole('link', { name: 'by a schedule' }).click();
    await page.getByRole('heading', { name: /^Schedule of/ }).waitFor();
  });

  it('has no choice of a time for a revert, without the permission, or while schedules are off', async () => {
    let mayPlan = true;
    const authorize = (_actor: unknown, action: string) => mayPlan || action !== 'createSchedule';
    await start({ router: { auth: () => ({ name: 'ada' }), authorize } });
    await host.flags.disable(production);
    await host.flags.enable(production);
    const page = await open('projects/default/flags/checkout');
    await page
      .getByRole('button', { name: /^Revert: / })
      .first()
      .click();
    await page.getByRole('dialog').getByText('1 flag goes off').waitFor();
    expect(await page.getByLabel('At a time').count()).toBe(0);
    await page.keyboard.press('Escape');
    const dialog = await reviewForLater(page);
    await dialog.getByLabel('Time', { exact: true }).fill('2020-01-01T09:30:00');
    await dialog.getByText('This time has passed, so it is applied at once.').waitFor();
    await dialog.getByRole('button', { name: /^Schedule/ }).click();
    await dialog.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 400/)).toBe(1);
    await page.keyboard.press('Escape');
    const isAbsent = async (on: Visit['page']) => {
      await on.getByRole('switch', { name: 'checkout in production', exact: true }).click();
      await on.getByRole('dialog').getByLabel('Reason').waitFor();
      expect(await on.getByLabel('At a time').count()).toBe(0);
    };
    mayPlan = false;
    await page.reload();
    await isAbsent(page);
    await visited.close();
    await host.close();
    await start({ runSchedules: false });
    await isAbsent(await open('projects/default'));
  });

  inFull('shows the refusal of a server that has switched schedules off in the meantime', async () => {
    await start();
    const page = await open('projects/default');
    const body = JSON.stringify({ code: 'schedules_disabled', message: 'Schedules are off.' });
    await page.route(/admin\/schedules$/, (route) => route.fulfill({ status: 409, body }));
    const dialog = await reviewForLater(page);
    await dialog.getByRole('button', { name: /^Schedule for/ }).click();
    await dialog.getByText(/^This service carries out no schedules\. Apply the changes now/).waitFor();
    expect(visited.expectFault(/status 409/)).toBe(1);
  });
});

describeInBrowser('the schedules', () => {
  it('are listed live: the next first, then the ended ones with what to do, by state and project', async () => {
    await start();
    await host.flags.createProject({ id: 'other', name: 'Other' });
    const page = await open('projects/default');
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'Nothing is scheduled' }).waitFor();
    await host.flags.as('bob').createSchedule([DISABLE], { at: inHours(3), reason: 'The second' });
    await host.flags.as('bob').createSchedule([DISABLE], { at: inHours(2), reason: 'The first', ifUnchanged: true });
    const pending = page.getByRole('region', { name: 'Coming up' });
    await pending.locator('.timeline > li:nth-child(2)').waitFor();
    expect(await pending.locator('.reason').allTextContents()).toEqual(['The first', 'The second']);
    await pending.getByText('What changes').first().click();
    await pending.getByText('production · enabled').waitFor();
    await host.flags.updateFlag(production, { description: 'Changed by bob' });
    ahead = 2 * HOUR + 60_000;
    await host.flags.runDue();
    const ended = page.getByRole('region', { name: 'Ended' });
    await ended
      .getByText(
        /^Nothing was changed\. The flag checkout is not as it was .* If the change still fits, make it again\.$/,
      )
      .waitFor();
    ahead = 5 * HOUR;
    await host.flags.runDue();
    await ended.getByText(/^Nothing was changed: no service could apply it/).waitFor();
    await pending.waitFor({ state: 'detached' });
    expect(await ended.locator('.reason').allTextContents()).toEqual(['The second', 'The first']);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel('State').selectOption('Failed');
    await page.getByText('1 schedule', { exact: true }).waitFor();
    await page.getByLabel('Project').selectOption('Other');
    await page.getByRole('heading', { name: 'Nothing is scheduled' }).waitFor();
    await page.getByLabel('Project').selectOption('All projects');
    await ended.locator('.timeline > li:nth-child(2)').waitFor();
    // The same changes again, in a new review.
    await ended
      .getByRole('button', { name: /^Make it again/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('The change was made.').waitFor();
    expect(await isOn()).toBe(false);
  });

  inFull('stay within every window, in the light and in the dark, and say what they need', async () => {
    let mayCancel = true;
    await start({
      router: {
        auth: () => ({ name: 'ada' }),
        authorize: (_actor: unknown, action: string) => mayCancel || action !== 'cancelSchedule',
      },
    });
    const long = { project: 'default', flag: 'n'.repeat(100) };
    await host.flags.createFlag(long, { name: long.flag });
    const update: Change = { op: 'updateFlag', ref: long, input: { description: 'w'.repeat(200) } };
    await host.flags.createSchedule([update, DISABLE], { at: inHours(1), reason: 'r'.repeat(200) });
    await host.flags.createSchedule([update], { at: inHours(1) });
    await host.flags.archiveFlag(long);
    ahead = HOUR + 1_000;
    await host.flags.runDue();
    await host.flags.createSchedule([DISABLE], { at: inHours(4) });
    mayCancel = false;
    for (const width of [390, 1_280]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open('schedules', { viewport: { width, height: 800 }, colorScheme });
        await page.getByRole('region', { name: 'Ended' }).waitFor();
        await page.locator('button[title="Needs the permission cancelSchedule"]').waitFor();
        await page.getByText('What changes').click();
        await page.getByText('production · enabled').waitFor();
        expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
        expect(await accessibilityViolations(page)).toEqual([]);
        await page.goto(`${host.page}projects/default/flags/checkout`);
        const dialog = await reviewForLater(page);
        await dialog.getByText(/^Applied on/).waitFor();
        expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
        expect(await accessibilityViolations(page)).toEqual([]);
        if (width < 1_280 || colorScheme === 'light') await visited.close();
      }
    }
  });

  inFull('are shown more on demand, and one that does not exist is reported', async () => {
    await start();
    for (let number = 0; number < 31; number++) await host.flags.createSchedule([DISABLE], { at: inHours(1 + number) });
    const page = await open('schedules');
    await page.getByText('31 schedules').waitFor();
    expect(await page.locator('.timeline > li').count()).toBe(30);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('.timeline > li:nth-child(31)').waitFor();
    await page.goto(`${host.page}schedules/00000000-0000-4000-8000-000000000000`);
    await page.getByRole('alert').waitFor();
    await until(() => visited.expectFault(/status 404/) > 0);
  });
});
