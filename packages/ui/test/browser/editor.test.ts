import { accessibilityViolations, disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { choose, describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';

const production = { project: 'default', flag: 'checkout', environment: 'production' };

let host: Host;
let visited: Visit;

async function open(path: string, options?: HostOptions, browser: VisitOptions = {}): Promise<Visit['page']> {
  host = await startHost(options);
  await seed(host);
  visited = await visit(`${host.page}projects/default/flags/checkout${path}`, browser);
  return visited.page;
}

afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

async function strategies() {
  const { environments } = await host.flags.getFlag(production);
  return environments.find(({ name }) => name === 'production')?.strategies ?? [];
}

describeInBrowser('the editor', () => {
  it('previews a rollout, reviews it, applies it in one commit, and reverts it', async () => {
    const page = await open('/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('50');
    await page.getByText(/now on for .* then for/).waitFor();
    await page.getByText(/\+ \d+ become on/).waitFor();
    await page.getByText(/Strategy 1: \d+ of 1,000 in the rollout of 50 %/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('strategy 1').waitFor();
    await dialog.getByText('become on').waitFor();
    await dialog.getByText('As code').click();
    await choose(dialog.getByLabel('TypeScript'));
    await dialog.getByText('await flags.apply([').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1, exact: true }).waitFor();
    expect((await strategies())[0]?.parameters).toMatchObject({ rollout: 50 });
    await page
      .getByRole('button', { name: /^Revert: / })
      .first()
      .click();
    await page.getByRole('button', { name: 'Confirm: revert' }).click();
    await page.getByText('The change was reverted.').waitFor();
    expect((await strategies())[0]?.parameters).toMatchObject({ rollout: 25 });
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('picks the date of a constraint in the time zone of the browser', async () => {
    const page = await open('/production', {}, { timezoneId: 'Europe/Berlin' });
    await page.getByRole('button', { name: 'Constraint', exact: true }).click();
    await page.getByLabel('Constraint 1: field').fill('currentTime');
    await page.getByLabel('Constraint 1: operator').selectOption('is after');
    await page.getByText('In the time zone Europe/Berlin').waitFor();
    await page.getByLabel('Constraint 1: value').fill('2026-03-01T12:00:00');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByText('is after 2026-03-01T11:00:00.000Z').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('previews over the users that were seen recently, where the host keeps them', async () => {
    const page = await open('/production', { recentContexts: 100 });
    for (let id = 1; id <= 40; id++) {
      host.flags.isEnabled('checkout', { userId: `user-${id}`, properties: { country: id <= 10 ? 'DE' : 'FR' } });
    }
    await page.getByRole('button', { name: 'Edit the list' }).click();
    await page.getByRole('button', { name: '40 recently seen users' }).click();
    expect(await page.getByRole('textbox', { name: 'Users', exact: true }).inputValue()).toMatch(
      /^{"userId":"user-40",/,
    );
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use this list' }).click();
    await page.getByText('40 users of the list').waitFor();
    await page.getByLabel('Rollout of strategy 1 in percent').fill('100');
    await page.getByText('then for 40').waitFor();
    // Without a list, the preview takes them by itself.
    await page.getByRole('button', { name: 'Edit the list' }).click();
    await page.getByRole('textbox', { name: 'Users', exact: true }).fill('');
    await page.getByRole('button', { name: 'Use this list' }).click();
    await page.getByText('40 recently seen users', { exact: true }).waitFor();
  });

  inFull(
    'asks recent users about a flag whose parent reads a field, and cannot tell for a list without it',
    async () => {
      const page = await open('', { recentContexts: 100 });
      const [strategy] = await strategies();
      await host.flags.updateStrategy(
        { ...production, strategy: strategy?.id ?? '' },
        { name: 'default', parameters: {}, constraints: [{ contextName: 'plan', operator: 'REGEX', value: '^pro' }] },
      );
      await host.flags.addDependency({ project: 'default', flag: 'dark-mode' }, { flag: 'checkout' });
      await host.flags.enable({ ...production, flag: 'dark-mode' });
      host.flags.isEnabled('checkout', { userId: '7', properties: { plan: 'pro' } });
      await page.goto(`${host.page}projects/default/flags/dark-mode/production`);
      await page.getByLabel('Rollout of strategy 1 in percent').fill('100');
      await page.getByText('1 recently seen user', { exact: true }).waitFor();
      await page.getByText('then for 1').waitFor();
      await page.getByRole('button', { name: 'Edit the list' }).click();
      await page.getByRole('textbox', { name: 'Users', exact: true }).fill('7');
      await page.getByRole('button', { name: 'Use this list' }).click();
      await page.getByText('Cannot tell: the users of the list have no plan.').waitFor();
      expect(await page.getByRole('button', { name: /200 with/ }).count()).toBe(0);
      await page.getByRole('button', { name: '1 recently seen user' }).click();
      await page.getByText('then for 1').waitFor();
    },
  );

  inFull('offers no recently seen users where the host keeps none', async () => {
    const page = await open('/production');
    host.flags.isEnabled('checkout', { userId: '7' });
    const answer = page.waitForResponse('**/api/admin/contexts');
    await page.getByRole('button', { name: 'Edit the list' }).click();
    expect(await (await answer).json()).toEqual({ version: 1, contexts: [] });
    expect(await page.getByRole('button', { name: /recently seen/ }).count()).toBe(0);
  });

  it('adds, targets, orders and removes strategies', async () => {
    const page = await open('/production');
    await page.getByLabel('Add a strategy').selectOption({ label: 'Everyone' });
    await page.getByRole('button', { name: 'Constraint' }).last().click();
    await page.getByLabel('Constraint 1: field').last().fill('country');
    await page.getByLabel('Constraint 1: add a value').last().fill('DE, AT');
    await page.getByLabel('Constraint 1: add a value').last().press('Enter');
    await page.getByText('200 with country DE, 200 with country AT, 200 without', { exact: true }).waitFor();
    await page.getByText('600 made-up users', { exact: true }).waitFor();
    expect(await page.getByText(/Cannot tell/).count()).toBe(0);
    await page.getByRole('button', { name: 'Users with country DE, AT' }).waitFor();
    expect(await page.getByLabel('any case').count()).toBe(0);
    await page.getByRole('button', { name: 'Move strategy 2 up' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1, exact: true }).waitFor();
    const [first, second] = await strategies();
    expect(first?.constraints).toEqual([{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }]);
    expect(second?.name).toBe('flexibleRollout');
    await page.goto(`${host.page}projects/default/flags/checkout/production`);
    await page.getByRole('button', { name: 'Remove strategy 1' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1, exact: true }).waitFor();
    expect(await strategies()).toHaveLength(1);
  });

  it('does not preview changes that are being applied', async () => {
    const page = await open('/production');
    await page.clock.install();
    await page.reload();
    let state: 'draft' | 'applied' | 'replied' = 'draft';
    const later: string[] = [];
    page.on('request', (request) => state !== 'draft' && later.push(new URL(request.url()).pathname));
    // The event of the change reaches the page before the replies: it reads the flag again, and would preview the draft again.
    await page.route('**/api/admin/changes', async (route) => {
      const response = await route.fetch();
      state = 'applied';
      await until(() => later.some((path) => path.endsWith('/features/checkout')));
      await page.clock.runFor(1000);
      state = 'replied';
      await route.fulfill({ response });
    });
    await page.route('**/features/checkout', async (route) => {
      if (state === 'applied') await until(() => state === 'replied');
      await route.continue();
    });
    await page.getByRole('button', { name: 'Remove strategy 1' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1, exact: true }).waitFor();
    expect(await strategies()).toEqual([]);
    expect(later.filter((path) => path.endsWith('/preview'))).toEqual([]);
  });

  inFull('keeps a draft after a reload, and merges it with another user’s edit of another part', async () => {
    const page = await open('/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await page.reload();
    const rollout = page.getByLabel('Rollout of strategy 1 in percent');
    await rollout.waitFor();
    expect(await rollout.inputValue()).toBe('60');
    await host.flags.as('bob').updateFlag(production, { stale: true });
    await page.getByText('Your draft was merged with it.').waitFor();
    expect(await rollout.inputValue()).toBe('60');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1, exact: true }).waitFor();
    expect((await host.flags.getFlag(production)).stale).toBe(true);
    expect((await strategies())[0]?.parameters).toMatchObject({ rollout: 60 });
  });

  inFull('shows three columns where both have changed the same field', async () => {
    const page = await open('/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    const [strategy] = await strategies();
    await host.flags
      .as('bob')
      .updateStrategy(
        { ...production, strategy: strategy?.id ?? '' },
        { ...strategy, parameters: { ...strategy?.parameters, rollout: 30 } },
      );
    await page.getByText('Somebody else has changed checkout').waitFor();
    expect(
      await page
        .getByRole('row', { name: /rollout/ })
        .getByRole('cell')
        .allTextContents(),
    ).toEqual(expect.arrayContaining(['25 %', '30 %', '60 %']));
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose(page.getByLabel('Theirs'));
    await page.getByRole('button', { name: 'Continue with the result' }).click();
    expect(await page.getByLabel('Rollout of strategy 1 in percent').inputValue()).toBe('30');
    await page.getByText('No changes').waitFor();
  });

  inFull('counts over a pasted list, and shows each of its users', async () => {
    const page = await open('/production');
    await page.getByRole('button', { name: 'Edit the list' }).click();
    await page.getByRole('textbox', { name: 'Users' }).fill('7\nuserId=10, country=DE\n{"userId":"42"}');
    await page.getByRole('button', { name: 'Use this list' }).click();
    await page.getByLabel('Rollout of strategy 1', { exact: true }).fill('100');
    await page.getByText('3 users of the list').waitFor();
    await page.getByRole('rowheader', { name: '42' }).waitFor();
    expect(await page.getByRole('region', { name: 'Users' }).getByRole('row').count()).toBe(4);
  });

  inFull('refuses without the permission, and names it', async () => {
    host = await startHost({
      router: {
        auth: () => ({ name: 'eve' }),
        authorize: (_actor: unknown, action: string) => /^(get|list|count|preview|explain)/.test(action),
      },
    });
    await seed(host);
    visited = await visit(`${host.page}projects/default/flags/checkout`);
    const control = visited.page.locator('[role=switch][aria-disabled=true]').first();
    await control.waitFor();
    expect(await control.getAttribute('title')).toBe('Needs the permission disable');
    await control.click({ force: true });
    await visited.page.getByRole('button', { name: 'Archive…' }).click({ force: true });
    expect(await visited.page.getByRole('dialog').count()).toBe(0);
    expect((await host.flags.getFlag(production)).archived).toBe(false);
  });
});
