import { accessibilityViolations, type Visit } from '@flags/test-browser';
import {
  approveAs,
  cardOf,
  checkout,
  ENABLE,
  host,
  isOn,
  lastVisit,
  open,
  requestAs,
  requests,
  setPercentage,
  start,
  switchOf,
  TITLE,
} from './colleagues.js';
import { choose, describeInBrowser } from './host.js';

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
    await entry.getByRole('link', { name: TITLE }).waitFor();
    expect(await entry.textContent()).toMatch(
      /^ada\s*enabled the flag\s*by the request\s*of ada\s*Enable dark-mode in production\s*approved by grace/,
    );
    await entry.getByRole('link', { name: TITLE }).click();
    await ada.getByRole('heading', { name: TITLE, level: 1 }).waitFor();
    await ada.goto(`${host.page}events?flag=dark`);
    await ada.getByText(/^grace approved the request/).waitFor();
    const approval = ada.locator('.entry-head').filter({ hasText: /grace\s*approved the request/ });
    await approval.getByRole('link', { name: TITLE }).waitFor();
    expect(await approval.textContent()).toMatch(/of ada\s*Enable dark-mode in production/);
    expect(await accessibilityViolations(ada)).toEqual([]);
  });

  it('is not needed to switch off, nor elsewhere, and can be left for somebody else', async () => {
    await start();
    const page = await open('ada', 'projects/default/flags/checkout');
    await switchOf(page, 'checkout').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is applied at once.').waitFor();
    await choose(dialog.getByLabel('Request', { exact: true }));
    await dialog.getByText(/^It needs no approval: you, or somebody else, applies the request\./).waitFor();
    await dialog.getByText('When it is applied, it ends every rollout of the strategies that it changes.').waitFor();
    await dialog.getByRole('button', { name: 'Request the change' }).click();
    await page.getByText('Requested. Nothing has changed yet: it needs no approval, so it can be applied.').waitFor();
    const grace = await open('grace', 'changes');
    await grace.getByRole('region', { name: 'Waiting for you' }).getByText('Ready to apply').waitFor();
    await grace.getByRole('button', { name: 'Apply: Disable checkout in production' }).click();
    await grace.getByRole('button', { name: 'Apply now', exact: true }).click();
    await grace.getByText('The request was applied.').waitFor();
    expect(await isOn('checkout')).toBe(false);
    await page.getByRole('switch', { name: 'checkout in production', exact: true, checked: false }).waitFor();
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
    await choose(dialog.getByLabel('Apply now, without approval'));
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
    await choose(page.getByRole('dialog').getByLabel('At a time'));
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
    await choose(root.getByLabel('Apply now, without approval'));
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
