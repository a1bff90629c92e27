import { type Action, roles } from '@flags/express';
import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, startHost } from './host.js';

const SECRET = 'a-secret-that-is-long-enough-for-an-admin-token';
const HOSTILE = '<script>alert(1)</script>';

let host: Host;
let visited: Visit;
let mayWrite = true;

beforeAll(async () => {
  host = await startHost({
    router: {
      auth: () => ({ name: 'ada' }),
      authorize: (_actor: unknown, action: Action) => mayWrite || action === 'listTokens' || roles.editor(action),
      describeUsers: (ids) => ids.map((id) => ({ id, name: id === 7 ? HOSTILE : `Person ${id}` })),
    },
  });
});
beforeEach(() => {
  mayWrite = true;
});
afterEach(() => visited.close());
afterAll(async () => {
  await host.close();
  await disconnectBrowser();
});

async function open(path: string): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  return visited.page;
}

describeInBrowser('API tokens', () => {
  it('are created, show their secret once, and can be rotated and deleted', async () => {
    const page = await open('tokens');
    await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Only this project').selectOption('default');
    await page.getByLabel('Environment').selectOption('development');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create token' }).click();
    const secret = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
    expect(await host.flags.verifyToken(secret)).toMatchObject({
      name: HOSTILE,
      kind: 'client',
      projects: ['default'],
      environment: 'development',
    });
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('rowheader', { name: HOSTILE }).waitFor();
    await page.getByText('in 3 mo.').waitFor();
    await page.getByRole('cell', { name: 'never', exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: /^Rotate / }).click();
    await page.getByLabel('The old secret stays valid').selectOption('for an hour');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rotate token' }).click();
    const next = await page.getByRole('textbox', { name: 'Secret' }).inputValue();
    expect(next).not.toBe(secret);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('2 tokens').waitFor();
    expect((await host.flags.verifyToken(secret))?.expiresAt).not.toBeNull();
    await page.getByText(/in (59 min|60 min|1 hr)/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page
      .getByRole('button', { name: /^Delete / })
      .last()
      .click();
    await page.getByRole('button', { name: /^Confirm: delete/ }).click();
    await page.getByText('1 token', { exact: true }).waitFor();
    expect(await host.flags.verifyToken(next)).toBeUndefined();
  });

  inFull('have refusals shown at the field', async () => {
    const page = await open('tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('system');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.locator('.field.faulty', { hasText: 'must not be system' }).waitFor();
    expect(visited.expectFault(/status 400/)).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('have disabled controls, naming the permission, where the caller may not use them', async () => {
    await host.flags.tokens.create({ name: 'web', kind: 'admin', secret: SECRET });
    mayWrite = false;
    const page = await open('tokens');
    const button = page.locator('button[title="Needs the permission createToken"]');
    await button.waitFor();
    await button.click({ force: true });
    await page.getByRole('button', { name: 'Delete web' }).click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});

describeInBrowser('a viewer, by the roles of the library', () => {
  it('reads flags, history and the playground, and sees which parts its role hides', async () => {
    const viewing = await startHost({
      router: { auth: () => ({ name: 'vera' }), authorize: (_actor: unknown, action: Action) => roles.viewer(action) },
    });
    const flag = { project: 'default', flag: 'checkout', environment: 'production' };
    await viewing.flags.createFlag(flag, { name: flag.flag });
    await viewing.flags.addStrategy(flag, { name: 'default' });
    visited = await visit(`${viewing.page}projects/default/flags/checkout`);
    const { page } = visited;
    await page.getByRole('heading', { level: 1, name: 'checkout' }).waitFor();
    await page.getByText('No live updates').waitFor();
    expect(await page.getByRole('switch', { disabled: true }).count()).toBeGreaterThan(0);
    expect(await page.getByRole('switch', { disabled: false }).count()).toBe(0);
    await (await viewing.flags.consume('audit', () => undefined))();
    await page.goto(`${viewing.page}events`);
    await page.getByText('checkout').first().waitFor();
    expect(await page.getByText('audit').count()).toBe(0);
    await page.goto(`${viewing.page}why?as=userId%3D7&flag=checkout`);
    await page.getByText('checkout').first().waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(visited.expectFault(/status 403: GET .*event-stream/)).toBeGreaterThan(0);
    await viewing.close();
  });
});

describeInBrowser('the members of a project', () => {
  it('are added, changed and removed, by the names that the host knows', async () => {
    const page = await open('projects/default/members');
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel('User ID').fill('7');
    await page.getByLabel('Role').selectOption({ index: 0 });
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Add member' }).click();
    await page.getByRole('rowheader', { name: HOSTILE }).waitFor();
    await host.flags.addMember({ project: 'default' }, { userId: 8, roleId: 5 });
    const role = page.getByLabel('Role of Person 8');
    await role.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await role.selectOption({ index: 0 });
    await page.getByText('has the role').waitFor();
    await page.getByText('A project keeps at least one owner.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Remove ${HOSTILE}` }).click();
    await page.getByRole('button', { name: /^Confirm: remove/ }).click();
    await page.getByText('was removed from default.').waitFor();
    expect((await host.flags.listMembers({ project: 'default' })).items).toEqual([{ userId: 8, roleId: 4 }]);
  });

  it('are listed by name, as tokens and segments are', async () => {
    for (const name of ['zebra', 'ant', 'Middle']) {
      await host.flags.tokens.create({ name, kind: 'client' });
      await host.flags.segments.create({ name, constraints: [] });
    }
    for (const userId of [30, 4]) await host.flags.addMember({ project: 'default' }, { userId, roleId: 5 });
    const page = await open('projects/default/members');
    const names = () => page.locator('tbody tr > th').allInnerTexts();
    await page.getByRole('rowheader', { name: 'Person 30' }).waitFor();
    const members = (await names()).map((name) => /Person \d+/.exec(name)?.[0]);
    expect(members.filter(Boolean)).toEqual(['Person 4', 'Person 8', 'Person 30']);
    for (const path of ['tokens', 'segments']) {
      await page.goto(`${host.page}${path}`);
      await page.getByRole('rowheader', { name: 'zebra' }).waitFor();
      expect((await names()).filter((name) => /^(ant|Middle|zebra)$/.test(name))).toEqual(['ant', 'Middle', 'zebra']);
    }
    for (const userId of [30, 4]) await host.flags.removeMember({ project: 'default' }, { userId, roleId: 5 });
  });

  inFull('include the only owner, whose removal is refused with a remedy', async () => {
    const page = await open('projects/default/members');
    await page.getByText('A project keeps at least one owner.').waitFor();
    expect(await page.getByLabel('Role of Person 8').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove Person 8' }).click();
    await page.getByRole('dialog', { name: 'Person 8 is the only owner' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel('User ID').fill('bob');
    await page.getByRole('dialog').getByRole('button', { name: 'Add member' }).click();
    await page.locator('.field.faulty').waitFor();
    expect(visited.expectFault(/status 400/)).toBe(1);
    expect((await host.flags.listMembers({ project: 'default' })).items).toHaveLength(1);
  });

  inFull('are missing with a message if the project does not exist', async () => {
    const page = await open('projects/nowhere/members');
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 404/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
