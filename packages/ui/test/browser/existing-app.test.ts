import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { createApp } from '../../../../examples/existing-app/src/app.js';
import { describeInBrowser } from './host.js';

const checkout = { project: 'default', flag: 'checkout' };
const production = { ...checkout, environment: 'production' };

let flags: Flags;
let server: Server;
const visits: Visit[] = [];

beforeEach(async () => {
  flags = await openFlags({ storage: memoryStorage(), due: { run: true } });
  await flags.createFlag(checkout, { name: checkout.flag });
  await flags.addStrategy(production, { name: 'default' });
  await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
  server = createServer(createApp(flags, 'a secret for this test')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});

afterEach(async () => {
  for (const one of visits.splice(0)) await one.close();
  await flags.close();
  server.closeAllConnections();
  server.close();
});
afterAll(disconnectBrowser);

/** Logs in, and opens a screen of the page in a browser context of its own. */
async function open(name: string, password: string, path: string): Promise<Visit['page']> {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = `/internal/flags/ui/${path}`;
  const visited = await visit(`${origin}/login?return=${encodeURIComponent(target)}`);
  visits.push(visited);
  // The browser asks for an icon, which this application does not have.
  visited.expectFault(/favicon/);
  const { page } = visited;
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(`${origin}${target}`);
  return page;
}

async function strategies() {
  const { environments } = await flags.getFlag(checkout);
  return environments.find(({ name }) => name === 'production')?.strategies ?? [];
}

async function percentage(): Promise<unknown> {
  return (await strategies())[0]?.parameters?.rollout;
}

const ENABLE = 'Enable checkout in production';
const START = 'Roll out in steps: checkout in production';
const NAME = 'the rollout of checkout in production';

/** The card of production on the page of a flag. */
function cardOf(page: Visit['page']) {
  return page.getByRole('region', { name: 'production', exact: true });
}

/** Approves as grace what waits for her. */
async function approve(title: string, shows: string | RegExp): Promise<Visit['page']> {
  const grace = await open('grace', 'hopper', 'changes');
  await grace.getByRole('region', { name: 'Waiting for you' }).getByRole('link', { name: title, exact: true }).click();
  await grace.getByText(shows).first().waitFor();
  await grace.getByRole('button', { name: `Approve: ${title}` }).click();
  await grace.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
  await grace.getByText('The request was approved.').waitFor();
  return grace;
}

describeInBrowser('an application with users', () => {
  it('lets one editor request a change of production, and another one approve it', async () => {
    const ada = await open('ada', 'lovelace', 'projects/default/flags/checkout');
    await ada.getByRole('switch', { name: 'checkout in production', exact: true }).click();
    await ada.getByRole('dialog').getByLabel('Reason').fill('The new checkout is ready');
    await ada.getByRole('button', { name: 'Request approval', exact: true }).click();
    await cardOf(ada).getByText('Waits for approval').waitFor();

    const grace = await approve(ENABLE, 'production: 1 flag goes on: checkout');

    await cardOf(ada).getByText('Approved', { exact: true }).waitFor();
    await cardOf(ada)
      .getByRole('button', { name: `Apply: ${ENABLE}` })
      .click();
    await ada.getByRole('button', { name: 'Apply now', exact: true }).click();
    await ada.locator('[aria-label="checkout in production"][aria-checked=true]').waitFor();
    await grace.getByText('Applied', { exact: true }).waitFor();
  });

  it('lets one editor request a rollout, and pause, advance and stop it when another one has approved it', async () => {
    const bypassApproval = 'before the test';
    const { id } = await flags.addStrategy(
      production,
      { name: 'flexibleRollout', parameters: { rollout: '5' } },
      { bypassApproval },
    );
    for (const strategy of await strategies()) {
      if (strategy.id !== id) await flags.removeStrategy({ ...production, strategy: strategy.id }, { bypassApproval });
    }
    await flags.enable(production, { bypassApproval });

    const ada = await open('ada', 'lovelace', 'projects/default/flags/checkout');
    await ada.getByRole('button', { name: 'Roll out in steps: strategy 1 in production' }).click();
    const dialog = ada.getByRole('dialog');
    for (const step of [1, 2]) await dialog.getByLabel(`Unit of step ${step}`).selectOption('until I advance it');
    await dialog.getByRole('button', { name: 'Review the rollout' }).click();
    await dialog.last().getByLabel('Reason').fill('Launch');
    await dialog.last().getByRole('button', { name: 'Request approval', exact: true }).click();
    await ada.getByText(/^Requested\./).waitFor();

    await approve(START, /from 5 %, without a guard/);

    const card = cardOf(ada);
    await card.getByRole('button', { name: `Apply: ${START}` }).click();
    await ada.getByRole('button', { name: 'Apply now', exact: true }).click();
    await card.getByText('Waits to be advanced').waitFor();
    expect(await percentage()).toBe('25');
    await card.getByRole('button', { name: `Pause: ${NAME}` }).click();
    await card.getByText('Paused', { exact: true }).waitFor();
    await card.getByRole('button', { name: `Resume: ${NAME}` }).click();
    await card.getByText('Waits to be advanced').waitFor();
    await card.getByRole('button', { name: `Advance to 50 %: ${NAME}` }).click();
    await dialog.getByRole('button', { name: 'Advance to 50 %' }).click();
    await ada.getByText('The rollout was advanced.').waitFor();
    expect(await percentage()).toBe('50');
    await card.getByRole('button', { name: `Roll back: ${NAME}` }).click();
    await dialog.getByRole('button', { name: 'Roll back to 5 %' }).click();
    await ada.getByText('The rollout was rolled back to 5 %.').waitFor();
    expect(await percentage()).toBe('5');
  });
});
