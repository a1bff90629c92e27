import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { choose, describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let ada: Visit;
let bob: Visit;
let flag: string;
let created = 0;

beforeAll(async () => {
  host = await startHost();
  await seed(host);
});
afterAll(async () => {
  await disconnectBrowser();
  await host.close();
});

/** Two people, each in a browser context, look at a fresh flag. */
beforeEach(async () => {
  flag = `shared-${++created}`;
  await host.flags.createFlag({ project: 'default' }, { name: flag, description: 'At first', labels: ['one'] });
  const parameters = { rollout: 25, stickiness: 'default', groupId: flag };
  await host.flags.addStrategy({ ...ref(), environment: 'production' }, { name: 'flexibleRollout', parameters });
  [ada, bob] = await Promise.all([open(), open()]);
});
afterEach(async () => {
  await ada.close();
  await bob.close();
});

const ref = () => ({ project: 'default', flag });

/** A preview is refused between the other person's change and its event on the page. */
const STALE_PREVIEW = [409, /\/changes\/preview$/] as const;

async function open(): Promise<Visit> {
  const visited = await visit(`${host.page}projects/default/flags/${flag}`, { allow: [STALE_PREVIEW] });
  await visited.page.getByText('Live', { exact: true }).waitFor();
  return visited;
}

describeInBrowser('a flag that two people edit', () => {
  inFull('shows a change of one to the other', async () => {
    await ada.page.getByRole('switch', { name: `${flag} in development` }).click();
    await bob.page.locator(`[aria-label="${flag} in development"][aria-checked=true]`).waitFor();
    await bob.page.getByText('enabled the flag').first().waitFor();
  });

  inFull('merges edits of different details, and loses nothing', async () => {
    for (const { page } of [ada, bob]) await page.getByRole('button', { name: 'Details…' }).click();
    await ada.page.getByLabel('Owner').fill('team-a');
    await bob.page.getByLabel('Description').fill('What bob says');
    await bob.page.getByRole('button', { name: 'Save details' }).click();
    await bob.page.getByText(`The details of ${flag} were saved.`).waitFor();
    await ada.page.getByText('Your draft was merged with it.').waitFor();
    expect(await ada.page.getByLabel('Description').inputValue()).toBe('What bob says');
    await ada.page.getByRole('button', { name: 'Save details' }).click();
    await ada.page.getByText(`The details of ${flag} were saved.`).waitFor();
    expect(await host.flags.getFlag(ref())).toMatchObject({ owner: 'team-a', description: 'What bob says' });
  });

  it('shows a conflict three-way, also after a reload', async () => {
    for (const { page } of [ada, bob]) await page.getByRole('button', { name: 'Details…' }).click();
    await ada.page.getByLabel('Description').fill('What ada says');
    await ada.page.getByLabel('Labels').fill('one, two');
    await bob.page.getByLabel('Description').fill('What bob says');
    await bob.page.getByRole('button', { name: 'Save details' }).click();
    const row = ada.page.getByRole('row', { name: /description/ });
    await row.waitFor();
    await ada.page.reload();
    await row.waitFor();
    expect((await row.getByRole('cell').allTextContents()).slice(0, 3)).toEqual([
      'At first',
      'What bob says',
      'What ada says',
    ]);
    expect(await accessibilityViolations(ada.page)).toEqual([]);
    await choose(row.getByLabel('Theirs'));
    await ada.page.getByRole('button', { name: 'Continue with the result' }).click();
    await ada.page.getByRole('button', { name: 'Save details' }).click();
    await ada.page.getByText(`The details of ${flag} were saved.`).waitFor();
    expect(await host.flags.getFlag(ref())).toMatchObject({ description: 'What bob says', labels: ['one', 'two'] });
  });

  inFull('merges variants by name', async () => {
    for (const { page } of [ada, bob]) await page.getByRole('button', { name: 'Edit variants' }).click();
    for (const [index, { page }] of [ada, bob].entries()) {
      await page.getByRole('button', { name: 'Add a variant' }).click();
      await page.getByLabel('Name').fill(['blue', 'green'][index] ?? '');
    }
    await bob.page.getByRole('button', { name: 'Save variants' }).click();
    await ada.page.getByText('Your draft was merged with it.').waitFor();
    await ada.page.getByRole('button', { name: 'Save variants' }).click();
    await ada.page.getByText(`The variants of ${flag} were saved.`).waitFor();
    const { variants } = await host.flags.getFlag(ref());
    expect((variants ?? []).map(({ name }) => name).sort()).toEqual(['blue', 'green']);
  });

  inFull('merges the edit of a strategy with that of an environment, and keeps an archived draft', async () => {
    await ada.page.goto(`${host.page}projects/default/flags/${flag}/production`);
    await ada.page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await bob.page.getByRole('switch', { name: `${flag} in production` }).click();
    await bob.page.getByRole('button', { name: 'Change production' }).click();
    await ada.page.getByText('Your draft was merged with it.').waitFor();
    expect(await ada.page.getByLabel('Enabled in production').isChecked()).toBe(true);
    await bob.page.getByRole('switch', { name: `${flag} in production`, checked: true }).waitFor();
    await bob.page.getByRole('button', { name: 'Archive…' }).click();
    await bob.page.getByRole('button', { name: /^Confirm/ }).click();
    await ada.page.getByText('This flag is archived').waitFor();
    await ada.page.getByRole('button', { name: `Revive ${flag}` }).click();
    await ada.page.getByLabel('Rollout of strategy 1 in percent').waitFor();
    expect(await ada.page.getByLabel('Rollout of strategy 1 in percent').inputValue()).toBe('60');
  });
});
