import type { Change, Flags } from '@flags/core';
import { type Action, roles, type UserRole } from '@flags/express';
import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';
import { outside } from './outside.js';

const production = { project: 'default', flag: 'checkout', environment: 'production' };
const ENABLE: Change = { op: 'enable', ref: { ...production, flag: 'dark-mode' } };

/** The users of the host. The browser context of a user sends the name in a header. */
const USERS: Readonly<Record<string, UserRole>> = { ada: 'editor', grace: 'editor', charles: 'viewer', root: 'admin' };

let host: Host;
const visits: Visit[] = [];

async function start(options: HostOptions = {}): Promise<void> {
  host = await startHost({
    runSchedules: 'elsewhere',
    router: {
      auth: (request) => {
        const name = String((request as { readonly headers: Record<string, unknown> }).headers['x-user']);
        return name in USERS ? { name } : null;
      },
      authorize: ({ name }: { readonly name: string }, action: Action) => roles[USERS[name] ?? 'viewer'](action),
    },
    ...options,
  });
  await seed(host);
  await host.flags.setApprovalPolicy({ environments: { production: { required: 1 } } });
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

async function proposals(): Promise<Awaited<ReturnType<Flags['listProposals']>>['items']> {
  return (await host.flags.listProposals()).items;
}

/** Proposes to switch dark-mode on in production, and returns the id. */
async function proposeAs(name: string, reason = 'Launch'): Promise<string> {
  return (await host.flags.as(name).createProposal({ changes: [ENABLE] }, { reason })).id;
}

describeInBrowser('a proposal', () => {
  it('is made by one editor, approved by another one, applied, and shown live to the first', async () => {
    await start();
    const ada = await open('ada', 'projects/default/flags/dark-mode');
    await ada.getByRole('switch', { name: 'dark-mode in production', exact: true }).click();
    const review = ada.getByRole('dialog');
    await review
      .getByText('production needs approval: 1 other person must approve the change before it is applied.')
      .waitFor();
    expect(await review.getByLabel('Apply now').count()).toBe(0);
    expect(await accessibilityViolations(ada)).toEqual([]);
    await review.getByRole('button', { name: 'Propose', exact: true }).click();
    expect(await proposals()).toEqual([]);
    await review.getByLabel('Reason').fill('Launch');
    await review.getByRole('button', { name: 'Propose', exact: true }).click();
    await ada.getByText('Proposed. Nothing has changed yet: somebody else must approve it.').waitFor();
    expect(await proposals()).toMatchObject([{ state: 'open', reason: 'Launch', author: { name: 'ada' } }]);
    expect(await isOn('dark-mode')).toBe(false);
    const card = ada.getByRole('region', { name: 'Proposed' });
    await card.getByText('Waiting for approval').waitFor();
    await ada.getByRole('button', { name: 'Show the proposal' }).click();
    await ada.getByRole('heading', { name: 'Proposal of ada' }).waitFor();
    await ada.getByText('production: 1 flag goes on: dark-mode').waitFor();
    await ada.getByText('1 person must approve it.').waitFor();
    expect(await ada.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    expect(await accessibilityViolations(ada)).toEqual([]);

    const grace = await open('grace', 'schedules');
    const waiting = grace.getByRole('region', { name: 'Waiting for approval' });
    await waiting.getByText('waits for you').waitFor();
    expect(await accessibilityViolations(grace)).toEqual([]);
    await waiting.getByRole('link', { name: 'Open the proposal of ada for dark-mode' }).click();
    await grace.getByText('production: 1 flag goes on: dark-mode').waitFor();
    await grace.getByRole('button', { name: 'Approve the proposal of ada for dark-mode' }).click();
    const decision = grace.getByRole('dialog');
    await decision.getByLabel('Reason').fill('Seen on staging');
    expect(await accessibilityViolations(grace)).toEqual([]);
    await decision.getByRole('button', { name: 'Approve', exact: true }).click();
    await grace.getByText('The proposal was approved.').waitFor();

    await ada.getByText('Approved', { exact: true }).waitFor();
    await ada.getByText('Seen on staging').waitFor();
    expect(await isOn('dark-mode')).toBe(false);
    await ada.getByRole('button', { name: 'Apply the proposal of ada for dark-mode' }).click();
    await ada.getByRole('button', { name: 'Apply now', exact: true }).click();
    await ada.getByText('The proposal was applied.').waitFor();
    await ada.getByText('Applied', { exact: true }).waitFor();
    await grace.getByText('Applied', { exact: true }).waitFor();
    expect(await isOn('dark-mode')).toBe(true);
    await grace.goto(`${host.page}projects/default/flags/dark-mode`);
    await grace.getByRole('link', { name: 'by a proposal' }).click();
    await grace.getByRole('heading', { name: 'Proposal of ada' }).waitFor();
    expect(await accessibilityViolations(grace)).toEqual([]);
  });

  it('is not needed to switch off, nor elsewhere', async () => {
    await start();
    const page = await open('ada', 'projects/default/flags/checkout');
    await page.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    await page.getByRole('dialog').getByLabel('At a time').waitFor();
    expect(await page.getByLabel('Propose').count()).toBe(0);
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('checkout is off in production.').waitFor();
    // The page may not know the new revision of the flag yet.
    await page.reload();
    await page.getByRole('switch', { name: 'checkout in development', exact: true }).click();
    await page.getByText('checkout is off in development.').waitFor();
  });

  it('is bypassed by an admin with a reason, which the history shows', async () => {
    await start();
    const page = await open('root', 'projects/default/flags/dark-mode');
    await page.getByRole('switch', { name: 'dark-mode in production', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Propose').waitFor();
    expect(await dialog.getByLabel('Propose').isChecked()).toBe(true);
    await dialog.getByLabel('At a time, without approval').check();
    await dialog.getByRole('button', { name: /^Schedule for .*, without approval$/ }).waitFor();
    await dialog.getByLabel('Apply now, without approval').check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('INC-42: Zahlungen schlagen fehl');
    await dialog.getByRole('button', { name: 'Change production, without approval' }).click();
    await page.getByText('dark-mode is on in production.').waitFor();
    await page.getByText('without approval').first().waitFor();
    await page.getByText('INC-42: Zahlungen schlagen fehl').first().waitFor();
    expect(await isOn('dark-mode')).toBe(true);
  });

  it('is rejected with a reason, or withdrawn by its author, and then listed as ended', async () => {
    await start();
    await proposeAs('ada', 'The first');
    await proposeAs('grace', 'The second');
    const page = await open('ada', 'schedules');
    const waiting = page.getByRole('region', { name: 'Waiting for approval' });
    await waiting.locator('.timeline > li:nth-child(2)').waitFor();
    expect(await waiting.locator('.reason').allTextContents()).toEqual(['The second', 'The first']);
    await waiting.getByText('What changes').first().click();
    await waiting.getByText('production: 1 flag goes on: dark-mode').waitFor();
    await waiting.getByRole('button', { name: 'Reject the proposal of grace for dark-mode' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Not on a Friday');
    await dialog.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('The proposal was rejected.').waitFor();
    await waiting.getByRole('button', { name: 'Withdraw the proposal of ada for dark-mode' }).click();
    await dialog.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await page.getByText('The proposal was withdrawn.').waitFor();
    await waiting.waitFor({ state: 'detached' });
    await page.getByText('Ended proposals').click();
    await page.getByText('Rejected', { exact: true }).waitFor();
    await page.getByText('Withdrawn', { exact: true }).waitFor();
    expect((await proposals()).map(({ state }) => state)).toEqual(['withdrawn', 'rejected']);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('shows approvals that have lapsed, needs as many as the policy says, and is applied at a time', async () => {
    await start();
    await host.flags.setApprovalPolicy({ environments: { production: { required: 2 } } });
    const id = await proposeAs('ada');
    await host.flags.as('charles').approveProposal({ proposal: id });
    const page = await open('grace', `proposals/${id}`);
    await page.getByText('1 of 2 approvals').waitFor();
    await page.getByText(/^1 more person must approve it\./).waitFor();
    await host.flags.as('root').setVariants(
      { project: 'default', flag: 'dark-mode' },
      [
        {
          name: 'a',
          weightType: 'variable',
          weight: 1000,
          stickiness: 'default',
          payload: { type: 'string', value: 'x' },
        },
      ],
      { bypassApproval: 'INC-42' },
    );
    await page.getByText('lapsed', { exact: true }).waitFor();
    await page
      .getByText(/^What was approved is no longer what would happen\. 2 more people must approve it\./)
      .waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Approve the proposal of ada for dark-mode' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('1 more person must approve it.').waitFor();
    await host.flags.as('charles').approveProposal({ proposal: id });
    await page.getByText('2 of 2 approvals').waitFor();
    await page.getByRole('button', { name: 'Apply the proposal of ada for dark-mode' }).click();
    await page.getByRole('dialog').getByLabel('At a time').check();
    await page.getByText('It fails if it would then do something else than what was approved.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    await page.getByText('Scheduled', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Show the schedule' }).click();
    await page.getByRole('heading', { name: /^Schedule of/ }).waitFor();
    await page.getByRole('link', { name: 'approved' }).waitFor();
  });

  it('opens when the service refuses a change whose effects the page could not know', async () => {
    await start({ ui: { reviewIn: [] } });
    const page = await open('ada', 'projects/default/flags/dark-mode');
    // An older policy, as while an event is on its way.
    await page.route(/approval-policy$/, (route) => route.fulfill({ json: { environments: {} } }));
    await page.reload();
    await page.getByRole('switch', { name: 'dark-mode in production', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('production needs approval').waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
    await dialog.getByLabel('Reason').fill('Launch');
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText(/^Proposed\./).waitFor();
    expect(await proposals()).toMatchObject([{ state: 'open' }]);
  });

  it('of a rollout shows its steps, and starts it', async () => {
    await start();
    const page = await open('ada', 'projects/default/flags/checkout');
    await page.getByRole('button', { name: 'Roll out in steps in production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('production needs approval').waitFor();
    await dialog.getByLabel('Reason').fill('Half of the shop');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText(/^Proposed\./).waitFor();
    const [made] = await proposals();
    await host.flags.as('grace').approveProposal({ proposal: `${made?.id}` });
    const card = page.getByRole('region', { name: 'Proposed' });
    await card.getByRole('list', { name: 'Proposed steps of the rollout of checkout' }).waitFor();
    await card.getByRole('button', { name: 'Apply the proposal of ada for checkout' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start with 50 %' }).click();
    await page.getByRole('region', { name: 'Rollout in steps' }).getByText('Running', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Rollout in steps' }).getByRole('link', { name: 'approved' }).waitFor();
    expect(await host.flags.listRollouts()).toMatchObject({ items: [{ state: 'running' }] });
  });

  it('cannot be decided on, applied or made without the permission', async () => {
    await start();
    const id = await proposeAs('ada');
    const page = await open('charles', `proposals/${id}`);
    const approve = page.getByRole('button', { name: 'Approve the proposal of ada for dark-mode' });
    await approve.and(page.locator('[title="Needs the permission decideProposal"]')).waitFor();
    await host.flags.as('grace').approveProposal({ proposal: id });
    await page.reload();
    const apply = page.getByRole('button', { name: 'Apply the proposal of ada for dark-mode' });
    await apply.and(page.locator('[title="Needs the permission applyProposal"]')).waitFor();
    await page.goto(`${host.page}schedules`);
    await page.getByText('Changes need approval in production (1 person).').waitFor();
    expect(await page.getByRole('button', { name: 'Change which environments need approval' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describeInBrowser('a refusal', () => {
  it('says that a revert cannot be proposed, and offers it to those who may do without approval', async () => {
    await start();
    await host.flags.disable(production, { reason: 'Too slow' });
    const page = await open('ada', 'projects/default/flags/checkout');
    const revert = page.getByRole('button', { name: /^Revert: / }).first();
    await revert.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A revert cannot be proposed: propose a change that does the same.').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Confirm: revert' });
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    expect(await accessibilityViolations(page)).toEqual([]);
    // A preview that arrives after the revert is refused.
    await dialog.getByText(/^Counted over /).waitFor();
    const root = await open('root', 'projects/default/flags/checkout');
    await root
      .getByRole('button', { name: /^Revert: / })
      .first()
      .click();
    await root.getByRole('dialog').getByLabel('Reason').fill('INC-42');
    await root
      .getByRole('dialog')
      .getByText(/^Counted over /)
      .waitFor();
    await root.getByRole('button', { name: 'Confirm: revert, without approval' }).click();
    await root.getByText('The change was reverted.').waitFor();
    expect(await isOn('checkout')).toBe(true);
  });

  it('says that approvals have lapsed, and that somebody else must approve', async () => {
    await start();
    const id = await proposeAs('ada');
    await host.flags.as('grace').approveProposal({ proposal: id });
    const page = await open('ada', 'projects/default/flags/dark-mode');
    const card = page.getByRole('region', { name: 'Proposed' });
    await card.getByText('Approved', { exact: true }).waitFor();
    const { environments } = await host.flags.getFlag({ project: 'default', flag: 'dark-mode' });
    const [strategy] = environments.find(({ name }) => name === 'production')?.strategies ?? [];
    const ref = { ...production, flag: 'dark-mode', strategy: `${strategy?.id}` };
    await host.flags.updateStrategy(ref, { parameters: { rollout: 100, stickiness: 'default', groupId: 'x' } });
    await card.getByRole('button', { name: 'Apply the proposal of ada for dark-mode' }).click();
    await page.getByRole('button', { name: 'Apply now', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByText(/^It would now do something else than what was approved/)
      .waitFor();
    expect(lastVisit().expectFault(/status 409/)).toBe(1);
    expect(await isOn('dark-mode')).toBe(false);
  });

  inFull('and all other parts stay within every window, in the light and in the dark', async () => {
    await start();
    await host.flags.as('ada').createProposal({ changes: [ENABLE] }, { reason: 'r'.repeat(200) });
    const { id } = await host.flags.as('a'.repeat(90)).createProposal({ changes: [ENABLE] }, { reason: 'Long name' });
    await host.flags.as('g'.repeat(90)).approveProposal({ proposal: id }, { reason: 'w'.repeat(200) });
    for (const width of [390, 1_280]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open('root', 'schedules', { viewport: { width, height: 800 }, colorScheme });
        await page.getByRole('region', { name: 'Waiting for approval' }).waitFor();
        await page.getByRole('region', { name: 'Approved' }).waitFor();
        const check = async () => {
          expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
          expect(await accessibilityViolations(page)).toEqual([]);
        };
        await page.getByText('What changes').first().click();
        await page.getByText('production: 1 flag goes on: dark-mode').waitFor();
        await check();
        await page.getByRole('button', { name: 'Change which environments need approval' }).click();
        await page.getByRole('dialog').waitFor();
        await check();
        await page.goto(`${host.page}proposals/${id}`);
        await page.getByText('1 of 1 approval').waitFor();
        await check();
        await page.goto(`${host.page}projects/default/flags/dark-mode`);
        await page.getByRole('switch', { name: 'dark-mode in production', exact: true }).click();
        await page.getByRole('dialog').getByLabel('Propose').waitFor();
        await check();
      }
    }
  });
});

describeInBrowser('the approval policy', () => {
  it('names the environments that the server does not have', async () => {
    await start();
    await host.flags.setApprovalPolicy({ environments: { production: { required: 1 }, prodution: { required: 1 } } });
    const page = await open('root', 'schedules');
    await page.getByText('This server has no environment prodution').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('is changed by an admin, and lowered by a proposal that somebody else approves', async () => {
    await start();
    const page = await open('root', 'schedules');
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
    await dialog.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText(/^Proposed\./).waitFor();
    const waiting = page.getByRole('region', { name: 'Waiting for approval' });
    await waiting.getByText('What changes').click();
    await waiting.getByText('approvals in production: 1 person → none').waitFor();
    const [made] = await proposals();
    await host.flags.as('grace').approveProposal({ proposal: `${made?.id}` });
    await page.getByRole('button', { name: 'Apply the proposal of root' }).click();
    await page.getByRole('button', { name: 'Apply now', exact: true }).click();
    await page.getByText('Changes need approval in development (2 people).').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
