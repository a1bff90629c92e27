import type { Flags } from '@flags/core';
import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';

const DAY = 86_400_000;
const production = { project: 'default', flag: 'checkout', environment: 'production' };

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

async function rollout(): Promise<Awaited<ReturnType<Flags['getRollout']>> | undefined> {
  return (await host.flags.listRollouts()).items[0];
}

async function percentage(): Promise<string> {
  const { environments } = await host.flags.getFlag(production);
  const [strategy] = environments.find(({ name }) => name === 'production')?.strategies ?? [];
  return `${strategy?.parameters?.rollout}`;
}

/** Starts a rollout of checkout, which waits for a day. */
async function begin(): Promise<string> {
  const { environments } = await host.flags.getFlag(production);
  const [strategy] = environments.find(({ name }) => name === 'production')?.strategies ?? [];
  const steps = [{ rollout: 60, hold: DAY }, { rollout: 80, hold: null }, { rollout: 100 }];
  const ref = { ...production, strategy: `${strategy?.id}` };
  return (await host.flags.startRollout(ref, { steps }, { reason: 'Launch' })).id;
}

describeInBrowser('a rollout', () => {
  it('is started on the page of its flag, which shows its steps', async () => {
    await start();
    const before = await percentage();
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('button', { name: 'Roll out in steps in production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`It is ${before} % now.`).waitFor();
    await dialog.getByLabel('Step 1 in percent').fill('60');
    await dialog.getByLabel('Unit of step 1').selectOption('until I advance it');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('Launch');
    await dialog.getByRole('button', { name: 'Start with 60 %' }).click();
    await page.getByText('The rollout of checkout has started with 60 %.').waitFor();
    const card = page.getByRole('region', { name: 'Rollout in steps' });
    await card.getByText('Waiting for you').waitFor();
    await card.getByText('100 % follows when you advance it.').waitFor();
    await card.getByText('Launch').waitFor();
    expect(await rollout()).toMatchObject({
      state: 'waiting',
      reason: 'Launch',
      steps: [
        { rollout: 60, hold: null },
        { rollout: 100, hold: 0 },
      ],
    });
    expect(await percentage()).toBe('60');
    expect(await page.getByRole('button', { name: 'Roll out in steps in production' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('is paused, resumed, advanced and stopped, and shows what other people and the runner do', async () => {
    await start();
    const before = await percentage();
    const page = await open('schedules');
    await begin();
    const card = page.getByRole('region', { name: 'Rollouts in steps' });
    await card.getByText(/^80 % follows on /).waitFor();
    await card.getByRole('button', { name: 'Pause the rollout of checkout in production' }).click();
    await card.getByText('Paused', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Resume the rollout of checkout in production' }).click();
    await card.getByText('Running', { exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    ahead = DAY + 1_000;
    await host.flags.runDue();
    await card.getByText('Waiting for you').waitFor();
    expect(await percentage()).toBe('80');
    await card.getByRole('button', { name: 'Advance to 100 %: the rollout of checkout in production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Advance checkout to 100 % in production?').waitFor();
    await dialog.getByRole('button', { name: 'Advance to 100 %' }).click();
    await page.getByText('The rollout was advanced.').waitFor();
    await until(async () => (await percentage()) === '100');
    await card.getByRole('button', { name: 'Stop the rollout of checkout in production' }).click();
    await dialog.getByLabel(`Go back to ${before} %, as before the start`).check();
    await dialog.getByLabel('Reason').fill('Zurück');
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: `Stop, back to ${before} %` }).click();
    await page.getByText('The rollout was stopped.').waitFor();
    await card.waitFor({ state: 'detached' });
    expect(await percentage()).toBe(before);
    expect(await rollout()).toMatchObject({ state: 'rolled-back' });
    await page.goto(`${host.page}projects/default/flags/checkout`);
    await page.getByText(`It was taken back to ${before} %.`).waitFor();
    await page.getByText('Zurück').first().waitFor();
    await page.getByText('by a rollout').first().waitFor();
  });

  it('ends when somebody switches the flag off, and says so', async () => {
    await start();
    await begin();
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('region', { name: 'Rollout in steps' }).getByText('Running', { exact: true }).waitFor();
    await host.flags.disable(production);
    await host.flags.runDue();
    await page.getByText('Somebody switched the flag there, which ended it.').waitFor();
    await page.getByRole('link', { name: 'Show the change that ended the rollout of checkout' }).click();
    await page.getByRole('heading', { name: /^Change of/ }).waitFor();
  });

  it('cannot be started or moved without the permission, or while schedules are off', async () => {
    const authorize = (_actor: unknown, action: string) => action !== 'changeRollout' && action !== 'startRollout';
    await start({ router: { auth: () => ({ name: 'ada' }), authorize } });
    await begin();
    const page = await open('projects/default/flags/checkout');
    const pause = page.getByRole('button', { name: 'Pause the rollout of checkout in production' });
    await pause.waitFor();
    expect(await pause.getAttribute('aria-disabled')).toBe('true');
    await visited.close();
    await host.close();
    await start({ runSchedules: false });
    const off = await open('projects/default/flags/checkout');
    await off.getByRole('link', { name: 'Edit production' }).waitFor();
    expect(await off.getByRole('button', { name: 'Roll out in steps in production' }).count()).toBe(0);
  });
});
