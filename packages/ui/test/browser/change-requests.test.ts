import type { Change, Flags } from '@flags/core';
import { type Action, roles, type UserRole } from '@flags/express';
import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';
import { outside } from './outside.js';

const HOUR = 3_600_000;
const checkout = { project: 'default', flag: 'checkout', environment: 'production' };
const darkMode = { ...checkout, flag: 'dark-mode' };
const ENABLE: Change = { op: 'enable', ref: darkMode };
const DISABLE: Change = { op: 'disable', ref: checkout };
const TITLE = 'Enable dark-mode in production';

/** The users of the host. The browser context of a user sends the name in a header. */
const USERS: Readonly<Record<string, UserRole>> = { ada: 'editor', grace: 'editor', charles: 'viewer', root: 'admin' };

let host: Host;
const visits: Visit[] = [];
/** The clock of the engine is ahead of that of the browser by this number of milliseconds. */
let ahead = 0;

interface StartOptions extends HostOptions {
  /** Default: one approval in production. */
  readonly required?: number;
  /** Denies actions beside those of the role. */
  readonly denies?: (action: Action) => boolean;
}

async function start({ required = 1, denies = () => false, ...options }: StartOptions = {}): Promise<void> {
  ahead = 0;
  host = await startHost({
    due: { run: 'elsewhere' },
    now: () => new Date(Date.now() + ahead),
    router: {
      auth: (request) => {
        const name = String((request as { readonly headers: Record<string, unknown> }).headers['x-user']);
        return name in USERS ? { name } : null;
      },
      authorize: ({ name }: { readonly name: string }, action: Action) =>
        !denies(action) && roles[USERS[name] ?? 'viewer'](action),
    },
    ...options,
  });
  await seed(host);
  if (required > 0) await host.flags.approvalPolicy.set({ environments: { production: { required } } });
}

async function open(user: string, path: string, options: VisitOptions = {}): Promise<Visit['page']> {
  const visited = await visit(`${host.page}${path}`, {
    ...options,
    extraHTTPHeaders: { 'x-user': user },
    allow: [[403, /event-stream|\/events/]],
  });
  visits.push(visited);
  return visited.page;
}

/** The visit of the last opened page. */
function lastVisit(): Visit {
  return visits.at(-1) as Visit;
}

afterEach(async () => {
  for (const one of visits.splice(0)) await one.close();
});
afterEach(() => host.close());
afterAll(disconnectBrowser);

async function isOn(flag: string): Promise<boolean | undefined> {
  const { environments } = await host.flags.getFlag({ project: 'default', flag });
  return environments.find(({ name }) => name === 'production')?.enabled;
}

async function requests(): Promise<Awaited<ReturnType<Flags['changeRequests']['list']>>['items']> {
  return (await host.flags.changeRequests.list()).items;
}

/** Requests to switch dark-mode on in production, and returns the id. */
async function requestAs(name: string, reason = 'Launch'): Promise<string> {
  return (await host.flags.as(name).changeRequests.create([ENABLE], { reason })).id;
}

async function approveAs(name: string, id: string): Promise<void> {
  const ref = { changeRequest: id };
  const { effect } = await host.flags.changeRequests.get(ref);
  await host.flags.as(name).changeRequests.approve(ref, { effect: `${effect}` });
}

function inHours(count: number): string {
  return new Date(Date.now() + count * HOUR).toISOString();
}

/** The strategy of dark-mode in production, as an input. */
async function setPercentage(rollout: number): Promise<void> {
  const { environments } = await host.flags.getFlag(darkMode);
  const [strategy] = environments.find(({ name }) => name === 'production')?.strategies ?? [];
  const parameters = { rollout, stickiness: 'default', groupId: 'dark-mode' };
  await host.flags.updateStrategy({ ...darkMode, strategy: `${strategy?.id}` }, { parameters });
}

function switchOf(page: Visit['page'], flag: string) {
  return page.getByRole('switch', { name: `${flag} in production`, exact: true });
}

/** The card of production on the page of a flag. */
function cardOf(page: Visit['page']) {
  return page.getByRole('region', { name: 'production', exact: true });
}

describeInBrowser('a change request', () => {
  it('is made by one editor, approved by another one who sees the same, applied, and shown live to the first', async () => {
    await start();
    const ada = await open('ada', 'projects/default/flags/dark-mode');
    await switchOf(ada, 'dark-mode').click();
    const review = ada.getByRole('dialog');
    await review
      .getByText('production needs approval: 1 other person must approve the change before it is applied.')
      .waitFor();
    await review.getByText(/now on for 0 → then for \d+/).waitFor();
    const counts = await review.locator('.counts').textContent();
    expect(await review.getByLabel(/^Apply now/).count()).toBe(0);
    expect(await accessibilityViolations(ada)).toEqual([]);
    await review.getByLabel('Reason').fill('Launch');
    await review.getByRole('button', { name: 'Request approval', exact: true }).click();
    await ada.getByText('Requested. Nothing has changed yet: somebody else must approve it.').waitFor();
    expect(await requests()).toMatchObject([{ state: 'open', reason: 'Launch', author: { name: 'ada' } }]);
    expect(await isOn('dark-mode')).toBe(false);
    await cardOf(ada).getByText('Waits for approval').waitFor();
    await cardOf(ada).getByRole('link', { name: TITLE, exact: true }).waitFor();
    // Within the first screen, and above the other environments.
    const { y = 0, height = 0 } = (await cardOf(ada).getByText('Waits for approval').boundingBox()) ?? {};
    expect(y + height).toBeLessThan(900);
    expect(await ada.locator('.environment-card').first().getAttribute('aria-label')).toBe('production');
    expect(await accessibilityViolations(ada)).toEqual([]);

    const grace = await open('grace', 'projects/default');
    await grace
      .getByRole('row', { name: /dark-mode/ })
      .getByText('requested', { exact: true })
      .waitFor();
    await grace.getByRole('link', { name: 'Changes 1 waiting for you' }).click();
    const waiting = grace.getByRole('region', { name: 'Waiting for you' });
    await waiting.getByText('waits for you').waitFor();
    expect(await accessibilityViolations(grace)).toEqual([]);
    await waiting.getByRole('link', { name: TITLE, exact: true }).click();
    await grace.getByRole('heading', { name: TITLE, level: 1 }).waitFor();
    const content = grace.getByRole('region', { name: 'What it would do now' });
    await content.getByText('production: 1 flag goes on: dark-mode').waitFor();
    await content.locator('.counts').waitFor();
    expect(await content.locator('.counts').textContent()).toBe(counts);
    expect(await accessibilityViolations(grace)).toEqual([]);
    await grace.getByRole('button', { name: `Approve: ${TITLE}` }).click();
    const decision = grace.getByRole('dialog');
    await decision.locator('.counts').waitFor();
    expect(await decision.locator('.counts').textContent()).toBe(counts);
    await decision.getByLabel('Reason').fill('Seen on staging');
    expect(await accessibilityViolations(grace)).toEqual([]);
    await decision.getByRole('button', { name: 'Approve', exact: true }).click();
    await grace.getByText('The request was approved.').waitFor();

    await cardOf(ada).getByText('Approved', { exact: true }).waitFor();
    await cardOf(ada).getByText('Seen on staging').waitFor();
    expect(await isOn('dark-mode')).toBe(false);
    await cardOf(ada)
      .getByRole('button', { name: `Apply: ${TITLE}` })
      .click();
    await ada.getByRole('button', { name: 'Apply now', exact: true }).click();
    await ada.getByText('The request was applied.').waitFor();
    await grace.getByText('Applied', { exact: true }).waitFor();
    expect(await isOn('dark-mode')).toBe(true);
    // The history names both people, and what was decided.
    const history = ada.getByRole('region', { name: 'History' });
    const entry = history.locator('.timeline > li').first();
    await entry.getByText('approved by grace').waitFor();
    expect(await entry.textContent()).toMatch(
      /^ada\s*enabled the flag\s*by the request\s*of ada\s*Enable dark-mode in production\s*approved by grace/,
    );
    await entry.getByRole('link', { name: TITLE }).click();
    await ada.getByRole('heading', { name: TITLE, level: 1 }).waitFor();
    await ada.goto(`${host.page}events?flag=dark`);
    await ada.getByText(/^grace approved the request/).waitFor();
    const approval = ada.locator('.entry-head').filter({ hasText: 'grace approved the request' });
    expect(await approval.textContent()).toMatch(/of ada\s*Enable dark-mode in production/);
    expect(await accessibilityViolations(ada)).toEqual([]);
  });

  it('is not needed to switch off, nor elsewhere, and can be left for somebody else', async () => {
    await start();
    const page = await open('ada', 'projects/default/flags/checkout');
    await switchOf(page, 'checkout').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is applied at once.').waitFor();
    await dialog.getByLabel('Request', { exact: true }).check();
    await dialog.getByText(/^It needs no approval: you, or somebody else, applies the request\./).waitFor();
    await dialog.getByText('When it is applied, it ends whatever then rolls out in what it changes.').waitFor();
    await dialog.getByRole('button', { name: 'Request the change' }).click();
    await page.getByText('Requested. Nothing has changed yet: it needs no approval, so it can be applied.').waitFor();
    const grace = await open('grace', 'changes');
    await grace.getByRole('region', { name: 'Waiting for you' }).getByText('Ready to apply').waitFor();
    await grace.getByRole('button', { name: 'Apply: Disable checkout in production' }).click();
    await grace.getByRole('button', { name: 'Apply now', exact: true }).click();
    await grace.getByText('The request was applied.').waitFor();
    expect(await isOn('checkout')).toBe(false);
    await page.getByRole('switch', { name: 'checkout in development', exact: true }).click();
    await page.getByText('checkout is off in development.').waitFor();
  });

  it('is bypassed by an admin with a reason, which the history shows', async () => {
    await start();
    const page = await open('root', 'projects/default/flags/dark-mode');
    await switchOf(page, 'dark-mode').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Request approval').isChecked()).toBe(true);
    expect(await dialog.locator('.segmented label').last().textContent()).toBe('Apply now, without approval');
    await dialog.getByLabel('Apply now, without approval').check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('INC-42: Zahlungen schlagen fehl');
    await dialog.getByRole('button', { name: 'Change production, without approval' }).click();
    await page.getByText('dark-mode is on in production.').waitFor();
    await page.getByText('without approval').first().waitFor();
    await page.getByText('INC-42: Zahlungen schlagen fehl').first().waitFor();
    expect(await isOn('dark-mode')).toBe(true);
  });

  it('is rejected with a reason, or withdrawn, and then listed as ended', async () => {
    await start();
    await requestAs('ada', 'The first');
    await requestAs('grace', 'The second');
    const page = await open('ada', 'changes');
    const waiting = page.getByRole('region', { name: 'Waiting for you' });
    await waiting.getByText('The second').waitFor();
    await page.getByRole('region', { name: 'Next' }).getByText('The first').waitFor();
    await waiting.getByRole('button', { name: `Reject: ${TITLE}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Not on a Friday');
    await dialog.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('The request was rejected.').waitFor();
    await waiting.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: TITLE, exact: true }).click();
    await page.getByRole('button', { name: `Withdraw: ${TITLE}` }).click();
    await dialog.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await page.getByText('The request was withdrawn.').waitFor();
    await page.getByText('Withdrawn', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Changes', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Nothing waits' }).waitFor();
    await page.getByText('Show the ended requests').click();
    await page.getByText('Rejected', { exact: true }).waitFor();
    await page.getByText('Withdrawn', { exact: true }).waitFor();
    expect((await requests()).map(({ state }) => state)).toEqual(['withdrawn', 'rejected']);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('shows an edit between reading and approving, and asks again', async () => {
    await start();
    const id = await requestAs('ada');
    const page = await open('grace', `changes/${id}`);
    await page.getByRole('button', { name: `Approve: ${TITLE}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.counts').waitFor();
    const before = await dialog.locator('.counts').textContent();
    await setPercentage(100);
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
    await dialog
      .getByRole('alert')
      .getByText(/^Somebody has changed something since you read this/)
      .waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
    await dialog.getByText(/then for 1,000/).waitFor();
    expect(await dialog.locator('.counts').textContent()).not.toBe(before);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await requests()).toMatchObject([{ state: 'open' }]);
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('The request was approved.').waitFor();
    expect(await requests()).toMatchObject([{ state: 'approved', approvals: [{ actor: { name: 'grace' } }] }]);
  });

  it('shows approvals that do not count any more, needs as many as the policy says, and is applied at a time', async () => {
    await start({ required: 2 });
    const id = await requestAs('ada');
    await approveAs('charles', id);
    const page = await open('grace', `changes/${id}`);
    await page.getByText('1 of 2 approvals').waitFor();
    await page.getByText(/^1 more person must approve it\. It expires on /).waitFor();
    await setPercentage(60);
    await page.getByText('lapsed', { exact: true }).waitFor();
    await page
      .getByText(/^What was approved is no longer what would happen\. 2 more people must approve it\./)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: `Approve: ${TITLE}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText(/\. 1 more person must approve it\. It expires on /).waitFor();
    await approveAs('charles', id);
    await page.getByText('2 of 2 approvals').waitFor();
    await page.getByRole('button', { name: `Apply: ${TITLE}` }).click();
    await page.getByRole('dialog').getByLabel('At a time').check();
    await page
      .getByRole('dialog')
      .getByText(/^Applied on /)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    expect(await requests()).toMatchObject([{ state: 'approved', appliedBy: { name: 'grace' } }]);
  });

  it('opens when the service refuses a change whose approval the page could not know', async () => {
    await start({ ui: { reviewIn: [] } });
    const page = await open('ada', 'projects/default/flags/dark-mode');
    // An older policy, as while an event is on its way.
    await page.route(/changes\/plan$/, async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, json: { ...(await reply.json()), approval: null } });
    });
    await switchOf(page, 'dark-mode').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('production needs approval').waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
    await dialog.getByRole('button', { name: 'Request approval', exact: true }).click();
    await page.getByText(/^Requested\./).waitFor();
    expect(await requests()).toMatchObject([{ state: 'open' }]);
  });

  it('reverts with one click, and offers a bypass only to those who may make it', async () => {
    await start();
    await host.flags.disable(checkout, { reason: 'Too slow' });
    const page = await open('ada', 'projects/default/flags/checkout');
    const revert = (on: Visit['page']) => on.getByRole('button', { name: /^Revert: / }).first();
    await revert(page).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('production needs approval').waitFor();
    expect(await dialog.getByLabel(/without approval/).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Request approval', exact: true }).click();
    await page.getByText(/^Requested\./).waitFor();
    const [made] = await requests();
    await approveAs('grace', `${made?.id}`);
    await cardOf(page).getByRole('button', { name: 'Apply: Revert a change' }).waitFor();
    await page.goto(`${host.page}changes/${made?.id}`);
    await page.getByText('production: 1 flag goes on: checkout').waitFor();
    await page.getByRole('button', { name: 'Apply: Revert a change' }).click();
    await page.getByRole('button', { name: 'Apply now', exact: true }).click();
    await page.getByText('Applied', { exact: true }).waitFor();
    expect(await isOn('checkout')).toBe(true);
    await host.flags.disable(checkout);
    const root = await open('root', 'projects/default/flags/checkout');
    await revert(root).click();
    await root.getByLabel('Apply now, without approval').check();
    await root.getByRole('dialog').getByLabel('Reason').fill('INC-42');
    // A preview that arrives after the revert is refused.
    await root
      .getByRole('dialog')
      .getByText(/^Counted over /)
      .waitFor();
    await root.getByRole('button', { name: 'Confirm: revert, without approval' }).click();
    await root.getByText('The change was reverted.').waitFor();
  });

  it('is replaced by an edited copy, with which the old one is withdrawn', async () => {
    await start();
    const id = await requestAs('ada');
    await approveAs('grace', id);
    const page = await open('ada', `changes/${id}`);
    await page.getByRole('button', { name: `Replace: ${TITLE}` }).click();
    const field = page.getByLabel('Changes', { exact: true });
    await field.fill('{}');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page
      .getByText(/^This is not a list of changes as JSON\./)
      .first()
      .waitFor();
    await field.fill(JSON.stringify([ENABLE, { op: 'enable', ref: { ...checkout, flag: 'old-banner' } }]));
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Review changes' }).click();
    const review = page.getByRole('dialog', { name: `Replace: ${TITLE}` }).last();
    await review.getByRole('button', { name: 'Request approval' }).click();
    await page.getByText(/^Requested\./).waitFor();
    expect(await requests()).toMatchObject([
      { state: 'withdrawn', id },
      { state: 'open', approvals: [], reason: 'Launch' },
    ]);
    await page.getByRole('link', { name: 'Enable dark-mode, old-banner in production', exact: true }).waitFor();
  });

  it('cannot be decided on or applied without the permission', async () => {
    await start();
    const id = await requestAs('ada');
    const page = await open('charles', `changes/${id}`);
    const approve = page.getByRole('button', { name: `Approve: ${TITLE}` });
    await approve.and(page.locator('[title="Needs the permission decideChangeRequest"]')).waitFor();
    await approveAs('grace', id);
    // Viewers get no events.
    await page.reload();
    const apply = page.getByRole('button', { name: `Apply: ${TITLE}` });
    await apply.and(page.locator('[title="Needs the permission applyChangeRequest"]')).waitFor();
    expect(await page.getByText('waiting for you').count()).toBe(0);
    await page.goto(`${host.page}changes`);
    await page.getByText('Changes need approval in production (1 person).').waitFor();
    expect(await page.getByRole('button', { name: 'Change which environments need approval' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('says that approvals do not count any more, when it is applied', async () => {
    await start();
    const id = await requestAs('ada');
    await approveAs('grace', id);
    const page = await open('ada', 'projects/default/flags/dark-mode');
    // The list has the state of the last decision.
    await cardOf(page).getByText('Approved', { exact: true }).waitFor();
    await setPercentage(100);
    await cardOf(page)
      .getByRole('button', { name: `Apply: ${TITLE}` })
      .click();
    await page.getByRole('button', { name: 'Apply now', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByText(/approval/)
      .first()
      .waitFor();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
    expect(await isOn('dark-mode')).toBe(false);
  });
});

describeInBrowser('a request with a time', () => {
  /** Starts to switch checkout off in production, and chooses a time in the review. */
  async function reviewForLater(page: Visit['page']) {
    await switchOf(page, 'checkout').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('At a time').check();
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
    await dialog.getByLabel('At a time').check();
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
    ahead = Date.parse(made?.at ?? '') + 1_000 - Date.now();
    await host.flags.runDue();
    expect(await isOn('dark-mode')).toBe(true);
  });

  it('clears the draft of the editor, and leads to the request, which the history of its change names', async () => {
    await start({ required: 0 });
    const page = await open('ada', 'projects/default/flags/checkout/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByLabel('At a time').check();
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    expect(await page.getByText('You have an unsaved draft').count()).toBe(0);
    await page.getByRole('button', { name: 'Show the request' }).click();
    await page.getByRole('heading', { name: 'Change a strategy of checkout in production' }).waitFor();
    await page.locator('.differences ins').getByText('60').waitFor();
    // Another edit of the flag moves its revision, which the request does not expect.
    await host.flags.updateFlag(checkout, { description: 'Changed by bob' });
    const [made] = await requests();
    ahead = Date.parse(made?.at ?? '') + 1_000 - Date.now();
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
    await lastVisit().close();
    visits.pop();
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
    ahead = 2 * HOUR + 60_000;
    await host.flags.runDue();
    await page.getByText('Show the ended requests').click();
    const ended = page.getByRole('region', { name: 'Ended' });
    await ended
      .getByText(
        /^Nothing was changed\. The flag checkout is not as it was .* If the change still fits, request it again\.$/,
      )
      .waitFor();
    ahead = 5 * HOUR;
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
  inFull('stay within every window, in the light and in the dark', async () => {
    await start();
    const long = { project: 'default', flag: 'n'.repeat(100) };
    await host.flags.createFlag(long, { name: long.flag });
    const update: Change = { op: 'updateFlag', ref: long, input: { description: 'w'.repeat(200) } };
    await host.flags.changeRequests.create([update, DISABLE], { at: inHours(1), reason: 'r'.repeat(200) });
    await host.flags.as('ada').changeRequests.create([ENABLE], { reason: 'r'.repeat(200) });
    const { id } = await host.flags.as('a'.repeat(90)).changeRequests.create([ENABLE], { reason: 'Long name' });
    await approveAs('g'.repeat(90), id);
    for (const width of [390, 1_280]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open('root', 'changes', { viewport: { width, height: 800 }, colorScheme });
        await page.getByRole('region', { name: 'Waiting for you' }).waitFor();
        const check = async () => {
          expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
          expect(await accessibilityViolations(page)).toEqual([]);
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
        await page.getByRole('dialog').getByLabel('At a time').check();
        await check();
        await lastVisit().close();
        visits.pop();
      }
    }
  });

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

describeInBrowser('the approval policy', () => {
  it('names the environments that the server does not have', async () => {
    await start();
    const environments = { production: { required: 1 }, prodution: { required: 1 } };
    await host.flags.approvalPolicy.set({ environments });
    const page = await open('root', 'changes');
    await page.getByText('This server has no environment prodution').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('is changed by an admin, and lowered by a request that somebody else approves', async () => {
    await start();
    const page = await open('root', 'changes');
    await page.getByRole('button', { name: 'Change which environments need approval' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Approvals in development').fill('2');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Changes need approval in development (2 people), production (1 person).').waitFor();
    await page.getByRole('button', { name: 'Change which environments need approval' }).click();
    await dialog.getByLabel('Approvals in production').fill('0');
    await dialog.getByText('production needs approval').waitFor();
    await dialog.getByLabel('Reason').fill('We trust each other');
    await dialog.getByRole('button', { name: 'Request', exact: true }).click();
    await page.getByText(/^Requested\./).waitFor();
    const [made] = await requests();
    await page.goto(`${host.page}changes/${made?.id}`);
    await page.getByText('approvals in production: 1 person → none').waitFor();
    await approveAs('grace', `${made?.id}`);
    await page.getByRole('button', { name: 'Apply: Change which environments need approval' }).click();
    await page.getByRole('button', { name: 'Apply now', exact: true }).click();
    await page.getByText('Applied', { exact: true }).waitFor();
    await page.goto(`${host.page}changes`);
    await page.getByText('Changes need approval in development (2 people).').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
