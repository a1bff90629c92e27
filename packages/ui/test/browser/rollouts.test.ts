import type { Rollout } from '@flags/core';
import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { choose, describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';
import { outside } from './outside.js';

const DAY = 86_400_000;
const production = { project: 'default', flag: 'checkout', environment: 'production' };
const NAME = 'the rollout of checkout in production';

let host: Host;
let visited: Visit;
/** The clock of the engine is ahead of that of the browser by this number of milliseconds. */
let ahead = 0;

async function start(options: HostOptions = {}): Promise<void> {
  ahead = 0;
  const now = () => new Date(Date.now() + ahead);
  host = await startHost({ due: { run: 'elsewhere' }, now, ...options });
  await seed(host);
}

async function open(path: string, options?: VisitOptions): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`, options);
  return visited.page;
}

afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

async function rollout(): Promise<Rollout | undefined> {
  return (await host.flags.rollouts.list()).items[0];
}

async function strategies(flag = 'checkout') {
  const { environments } = await host.flags.getFlag({ ...production, flag });
  return environments.find(({ name }) => name === 'production')?.strategies ?? [];
}

async function percentage(): Promise<string> {
  return `${(await strategies())[0]?.parameters?.rollout}`;
}

/** Starts a rollout, whose first step stays for a day. */
async function begin(flag = 'checkout'): Promise<void> {
  const ref = { ...production, flag, strategy: `${(await strategies(flag))[0]?.id}` };
  const steps = [{ percentage: 60, hold: DAY }, { percentage: 80, hold: null }, { percentage: 100 }];
  await host.flags.rollouts.start(ref, { steps }, { reason: 'Launch' });
}

/** The card of production on the page of a flag. */
function cardOf(page: Visit['page']) {
  return page.getByRole('region', { name: 'production', exact: true });
}

function switchOf(page: Visit['page']) {
  return page.getByRole('switch', { name: 'checkout in production', exact: true });
}

describeInBrowser('a rollout', () => {
  it('is started in the card of its strategy, which shows its steps, within the first screen', async () => {
    await start();
    const page = await open('projects/default/flags/checkout', { viewport: { width: 1_280, height: 900 } });
    await page.getByRole('button', { name: 'Roll out in steps: strategy 1 in production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is 25 % now.').waitFor();
    await dialog.getByLabel('Step 1 in percent').fill('60');
    await dialog.getByLabel('Unit of step 1').selectOption('until I advance it');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Review the rollout' }).click();
    const review = page.getByRole('dialog').last();
    await review.getByText(/strategy 1, .*, from 25 %, without a guard/).waitFor();
    await review.getByRole('list', { name: 'Steps of the rollout of checkout in production' }).waitFor();
    await review.getByText(/now on for \d+ → then for \d+/).waitFor();
    await review.getByText('It is applied at once.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await review.getByLabel('Reason').fill('Launch');
    await review.getByRole('button', { name: 'Start with 60 %' }).click();
    await page.getByText('The rollout of checkout has started with 60 %.').waitFor();
    const steps = cardOf(page).getByRole('list', { name: 'Steps of the rollout of checkout' });
    await steps.waitFor();
    await cardOf(page).getByText('Waits to be advanced').waitFor();
    await cardOf(page).getByText('100 % follows when you advance it.').waitFor();
    const { y = 0, height = 0 } = (await steps.boundingBox()) ?? {};
    expect(y + height).toBeLessThan(900);
    expect(await rollout()).toMatchObject({
      state: 'waiting',
      percentage: 60,
      steps: [
        { percentage: 60, hold: null },
        { percentage: 100, hold: 0 },
      ],
    });
    expect(await page.getByRole('button', { name: 'Roll out in steps: strategy 1 in production' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${host.page}projects/default`);
    await page
      .getByRole('row', { name: /checkout/ })
      .getByText('rolls out', { exact: true })
      .waitFor();
  });

  it('is requested, approved and started like any change, with a second flag in the same commit', async () => {
    await start();
    await host.flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('button', { name: 'Roll out in steps: strategy 1 in production' }).click();
    await page.getByRole('button', { name: 'Review the rollout' }).click();
    await page.getByRole('dialog').last().getByText('production needs approval').waitFor();
    await page.getByRole('button', { name: 'Request approval' }).click();
    await page.getByText(/^Requested\./).waitFor();
    await cardOf(page).getByRole('link', { name: 'Roll out in steps: checkout in production', exact: true }).click();
    const content = page.getByRole('region', { name: 'What it would do now' });
    await content.getByText(/strategy 1, .*, from 25 %, without a guard/).waitFor();
    await page.getByRole('button', { name: /^Replace/ }).click();
    const field = page.getByLabel('Changes', { exact: true });
    const [startRollout] = JSON.parse(await field.inputValue());
    const enable = { op: 'enable', ref: { ...production, flag: 'dark-mode' } };
    await field.fill(JSON.stringify([startRollout, enable]));
    await page.getByRole('button', { name: 'Review changes' }).click();
    await choose(page.getByRole('dialog').last().getByLabel('At a time'));
    await page.getByRole('button', { name: /^Schedule for/ }).click();
    // The message about the first request may still be shown.
    const find = async () =>
      (await host.flags.changeRequests.list({ state: 'open' })).items.find(({ at }) => at !== null);
    await until(async () => (await find()) !== undefined);
    const made = await find();
    const ref = { changeRequest: `${made?.id}` };
    const { effect } = await host.flags.changeRequests.get(ref);
    await host.flags.as('grace').changeRequests.approve(ref, { effect: `${effect}` });
    ahead = Date.parse(`${made?.at}`) + 1_000 - Date.now();
    await host.flags.runDue();
    expect(await rollout()).toMatchObject({ state: 'running', percentage: 50 });
    await page.goto(`${host.page}changes`);
    await page.getByRole('region', { name: 'Next' }).getByText('Rolls out', { exact: true }).waitFor();
    const { enabled } =
      (await host.flags.getFlag(enable.ref)).environments.find(({ name }) => name === 'production') ?? {};
    expect(enabled).toBe(true);
  });

  it('is paused, resumed, advanced and rolled back, and shows what other people and the runner do', async () => {
    await start();
    const page = await open('changes');
    await begin();
    const card = page.getByRole('region', { name: 'Next' });
    await card.getByText(/^80 % follows on /).waitFor();
    await card.getByRole('button', { name: `Pause: ${NAME}` }).click();
    await card.getByText('Paused', { exact: true }).waitFor();
    await card.getByRole('button', { name: `Resume: ${NAME}` }).click();
    await card.getByText('Rolls out', { exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    ahead = DAY + 1_000;
    await host.flags.runDue();
    await card.getByText('Waits to be advanced').waitFor();
    expect(await percentage()).toBe('80');
    await card.getByRole('button', { name: `Advance to 100 %: ${NAME}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It does not wait for the rest of this step, and asks no guard.').waitFor();
    await dialog.getByRole('button', { name: 'Advance to 100 %' }).click();
    await page.getByText('The rollout was advanced.').waitFor();
    await until(async () => (await percentage()) === '100');
    await card.getByRole('button', { name: `Roll back: ${NAME}` }).click();
    await dialog.getByText('It goes back to 25 %, as before the start.').waitFor();
    await dialog.getByLabel('Reason').fill('Zurück');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Roll back to 25 %' }).click();
    await page.getByText('The rollout was rolled back to 25 %.').waitFor();
    await card.waitFor({ state: 'detached' });
    expect(await percentage()).toBe('25');
    await page.goto(`${host.page}projects/default/flags/checkout`);
    await page.getByText('Zurück').first().waitFor();
    await page.getByText('by a rollout').first().waitFor();
    await page
      .getByText(/ended a rollout/)
      .first()
      .waitFor();
  });

  it('is stopped where it is, which cannot be undone', async () => {
    await start();
    await begin();
    const page = await open('projects/default/flags/checkout');
    await cardOf(page)
      .getByRole('button', { name: `Stop: ${NAME}` })
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop at 60 %' }).click();
    await page.getByText('The rollout was stopped.').waitFor();
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await rollout()).toBeUndefined();
    expect(await percentage()).toBe('60');
  });

  it('ends by another change, which its review says beforehand, for one flag and for several', async () => {
    await start();
    await begin();
    const page = await open('projects/default/flags/checkout');
    await switchOf(page).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^This ends the rollout of checkout in production\./).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose(dialog.getByLabel('Request', { exact: true }));
    await dialog
      .getByText(
        /^When it is applied, it ends every rollout of the strategies.* Now that would be the rollout of checkout/,
      )
      .waitFor();
    await choose(dialog.getByLabel('Apply now'));
    await dialog.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('checkout is off in production.').waitFor();
    expect(await rollout()).toBeUndefined();
    await page
      .getByText(/ended a rollout/)
      .first()
      .waitFor();
    await host.flags.enable(production);
    await host.flags.enable({ ...production, flag: 'dark-mode' });
    await begin();
    await begin('dark-mode');
    await page.goto(`${host.page}projects/default`);
    await page.getByLabel('Choose all flags of the list').check();
    await page.getByRole('button', { name: 'Archive' }).click();
    await dialog.getByText(/^This ends 2 rollouts: checkout in production, dark-mode in production\./).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('goes on while another strategy is edited, and a request leaves the order for its end', async () => {
    await start();
    const parameters = { rollout: 10, stickiness: 'default', groupId: 'staff' };
    await host.flags.addStrategy(production, { name: 'flexibleRollout', parameters });
    await begin();
    const page = await open('projects/default/flags/checkout/production');
    await page.getByRole('button', { name: 'Gradual rollout' }).nth(1).click();
    await page.getByLabel('Rollout of strategy 2 in percent').fill('20');
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is applied at once.').waitFor();
    expect(await dialog.getByText(/^This ends/).count()).toBe(0);
    await dialog.getByRole('button', { name: /^(Change production|Apply changes)$/ }).click();
    await page.getByText('checkout was changed in production.').waitFor();
    expect(await rollout()).toMatchObject({ state: 'running', percentage: 60 });
    await page.goto(`${host.page}projects/default/flags/checkout/production`);
    await page.getByRole('button', { name: 'Move strategy 2 up' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await choose(dialog.getByLabel('Request', { exact: true }));
    await dialog.getByText(/^A request does not order strategies while one of them rolls out/).waitFor();
    const submit = dialog.getByRole('button', { name: 'Request the change' });
    expect(await submit.getAttribute('aria-disabled')).toBe('true');
    await choose(dialog.getByLabel('Apply now'));
    await dialog.getByRole('button', { name: /^(Change production|Apply changes)$/ }).click();
    await page.getByText('checkout was changed in production.').waitFor();
    expect((await strategies()).map(({ parameters }) => `${parameters?.rollout}`)).toEqual(['20', '60']);
    expect(await rollout()).toMatchObject({ state: 'running', percentage: 60 });
  });

  it('cannot be started or moved without the permission, or while nothing is done at a time', async () => {
    const authorize = (_actor: unknown, action: string) => action !== 'changeRollout';
    await start({ router: { auth: () => ({ name: 'ada' }), authorize } });
    await begin();
    const page = await open('projects/default/flags/checkout');
    const pause = page.getByRole('button', { name: `Pause: ${NAME}` });
    await pause.and(page.locator('[title="Needs the permission changeRollout"]')).waitFor();
    await visited.close();
    await host.close();
    await start({ due: { run: false } });
    const off = await open('projects/default/flags/checkout');
    await off.getByRole('link', { name: 'Edit production' }).waitFor();
    expect(await off.getByRole('button', { name: /^Roll out in steps/ }).count()).toBe(0);
  });

  inFull('stays within every window, in the light and in the dark', async () => {
    await start();
    await begin();
    for (const width of [390, 1_280]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await open('changes', { viewport: { width, height: 800 }, colorScheme });
        const check = async () => {
          expect([width, colorScheme, ...(await outside(page))]).toEqual([width, colorScheme]);
          expect(await accessibilityViolations(page, { onlyColors: colorScheme === 'dark' })).toEqual([]);
        };
        await page.getByRole('list', { name: 'Steps of the rollout of checkout' }).waitFor();
        await check();
        await page.goto(`${host.page}projects/default/flags/checkout`);
        await page.getByRole('list', { name: 'Steps of the rollout of checkout' }).waitFor();
        await check();
        if (width < 1_280 || colorScheme === 'light') await visited.close();
      }
    }
  });
});
