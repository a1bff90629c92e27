import type { Flags } from '@flags/core';
import { disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { extent, inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, startHost } from './host.js';

const SCRIPT = '<script>globalThis.hacked = 1</script><img src=x onerror="globalThis.hacked = 1">';
const LINK = 'javascript:globalThis.hacked=1';
const COLOR = 'red; background: url(https://elsewhere.invalid/)';
const FLAG = { project: 'default', flag: 'hostile' };
const PRODUCTION = { ...FLAG, environment: 'production' };

let host: Host;
let visited: Visit;
let segment: number;

/** Everything that people, applications and callers can name has a hostile name. */
async function seedHostile({ flags }: { readonly flags: Flags<string> }): Promise<void> {
  const constraints = [{ contextName: '__proto__', operator: 'IN' as const, values: [SCRIPT, LINK] }];
  await flags.createProject({ id: 'hostile', name: SCRIPT, description: SCRIPT });
  ({ id: segment } = await flags.segments.create({ name: SCRIPT.slice(0, 90), description: SCRIPT, constraints }));
  await flags.createFlag(FLAG, { name: 'hostile', description: SCRIPT, labels: [LINK], owner: SCRIPT.slice(0, 60) });
  await flags.addStrategy(PRODUCTION, {
    name: 'flexibleRollout',
    title: SCRIPT,
    parameters: { rollout: 50, stickiness: 'default', groupId: LINK },
    constraints,
    segments: [segment],
  });
  await flags.addStrategy(PRODUCTION, { name: SCRIPT, parameters: { [SCRIPT]: LINK } });
  await flags.enable(PRODUCTION);
  await flags.setVariants(FLAG, [
    {
      name: 'v',
      weightType: 'variable',
      weight: 1000,
      stickiness: SCRIPT,
      payload: { type: 'string', value: `${SCRIPT}${LINK}` },
      overrides: [{ contextName: SCRIPT, values: [LINK] }],
    },
  ]);
  await flags.apply([{ op: 'updateFlag', ref: FLAG, input: { stale: true } }], { reason: SCRIPT, actor: LINK });
  await flags.createFlag(FLAG, { name: 'archived', description: SCRIPT });
  await flags.archiveFlag({ ...FLAG, flag: 'archived' });
  await flags.tokens.create({ name: SCRIPT, kind: 'client' });
  await flags.addMember({ project: 'default' }, { userId: 7, roleId: 4 });
  const shown = { description: SCRIPT, url: LINK, color: COLOR, icon: LINK };
  for (const application of [SCRIPT, LINK]) {
    await flags.registerApplication({ application, instance: SCRIPT, strategies: [SCRIPT], ...shown });
    const counts = { hostile: { yes: 1, no: 1 }, [SCRIPT]: { yes: 1, no: 0 } };
    await flags.reportMetrics({ application, start: Date.now() - 1_000, stop: Date.now(), counts });
  }
}

beforeAll(async () => {
  host = await startHost({
    router: {
      auth: () => ({ name: SCRIPT }),
      describeUsers: (ids) => ids.map((id) => ({ id, name: SCRIPT, image: LINK })),
    },
  });
  await seedHostile(host);
});
afterEach(() => visited.close());
afterAll(async () => {
  await host.close();
  await disconnectBrowser();
});

/** The policy would stop a script as well, and fail the test: it reaches the console. */
async function expectOnlyText(): Promise<void> {
  const { page } = visited;
  const elements = 'body :is(script:not([type="application/json"], [src]), img, iframe, object, embed)';
  expect(await page.locator(elements).count()).toBe(0);
  expect(await page.locator('[href^="javascript:" i], [src^="javascript:" i], [style*="url(" i]').count()).toBe(0);
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
}

const as = `as=${encodeURIComponent(`userId=${encodeURIComponent(SCRIPT)}&${encodeURIComponent(LINK)}=1`)}`;

describeInBrowser('a hostile text', () => {
  const pages: readonly (readonly [string, string])[] = [
    ['the list of flags, as somebody hostile', `projects/default?${as}`],
    ['a flag', 'projects/default/flags/hostile'],
    ['the events', 'events'],
  ];
  const otherPages: typeof pages = [
    ['the list of flags', 'projects/default'],
    ['the archive', 'projects/default?show=archived'],
    ['a flag, as somebody hostile', `projects/default/flags/hostile?${as}`],
    ['an archived flag', 'projects/default/flags/archived'],
    ['a flag as it was', 'projects/default/flags/hostile?asOf=2100-01-01T00:00:00Z'],
    ['the editor', 'projects/default/flags/hostile/production'],
    ['the segments', 'segments'],
    ['the applications', 'applications'],
    ['an application', `applications/${encodeURIComponent(SCRIPT)}`],
    ['the tokens', 'tokens'],
    ['the members', 'projects/default/members'],
    ['the playground', `why?${as}&flag=hostile`],
    ['a filter', `segments?q=${encodeURIComponent(SCRIPT.slice(0, 30))}`],
  ];

  it.each(extent({ short: pages, full: [...pages, ...otherPages] }))('show as text in %s', async (_, path) => {
    visited = await visit(`${host.page}${path}`);
    await visited.page.locator('main :text("globalThis.hacked"):visible').first().waitFor();
    await expectOnlyText();
  });

  inFull('show as text in a segment, its editor, and its preview', async () => {
    visited = await visit(`${host.page}segments/${segment}`);
    const { page } = visited;
    await page.getByRole('heading', { level: 1, name: SCRIPT.slice(0, 90) }).waitFor();
    await expectOnlyText();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Used by 1 strategy.').waitFor();
    await page.getByLabel('Constraint 1: field').fill('userId');
    await page
      .locator('main [role=status]')
      .getByText(/now on for|Nobody changes|Cannot tell/)
      .first()
      .waitFor();
    await expectOnlyText();
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  it('can be edited in strategies with names that every object inherits', async () => {
    const ref = { project: 'default', flag: 'inherited', environment: 'production' };
    const names = ['__proto__', 'constructor'];
    const flags: Flags<string> = host.flags;
    await flags.createFlag(ref, { name: ref.flag });
    for (const name of names) {
      await flags.addStrategy(ref, { name, parameters: JSON.parse(`{ "${name}": "old" }`) });
    }
    visited = await visit(`${host.page}projects/default/flags/${ref.flag}/production`);
    const { page } = visited;
    for (const name of names) {
      await page.getByRole('button', { name, expanded: false }).click();
      await page.getByLabel(name, { exact: true }).fill(`new ${name}`);
    }
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog');
    for (const name of names) await dialog.getByText(`new ${name}`).first().waitFor();
    // The flag is off everywhere: clients notice nothing.
    await dialog.getByRole('button', { name: 'Apply changes' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { environments } = await host.flags.getFlag(ref);
    const strategies = environments.find(({ name }) => name === 'production')?.strategies ?? [];
    expect(strategies.map(({ name, parameters }) => [name, JSON.stringify(parameters)])).toEqual(
      names.map((name) => [name, `{"${name}":"new ${name}"}`]),
    );
  });

  it('show as text in the review, as code too, and in the palette', async () => {
    visited = await visit(`${host.page}projects/default/flags/hostile/production`);
    const { page } = visited;
    const closed = page.getByRole('button', { name: SCRIPT, expanded: false });
    await closed.nth(1).click();
    await closed.click();
    await expectOnlyText();
    await page.getByLabel(/in percent$/).fill('60');
    await page.getByText(/now on for|Nobody changes|Cannot tell/).waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('As code').click();
    for (const form of ['curl', 'TypeScript', 'JSON']) {
      await dialog.getByText(form, { exact: true }).click();
      await dialog.locator('code', { hasText: 'globalThis.hacked' }).waitFor();
      await expectOnlyText();
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.getByRole('listbox').getByRole('option', { name: SCRIPT }).first().waitFor();
    await expectOnlyText();
  });
});
