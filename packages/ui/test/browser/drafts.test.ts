import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, startHost } from './host.js';

const SECRETS = ['first', 'second'].map((name) => `the-${name}-secret-that-is-long-enough-for-a-token`);

let host: Host;
let visited: Visit;

beforeEach(async () => {
  host = await startHost({ router: { auth: 'token' } });
  for (const [index, secret] of SECRETS.entries()) {
    await host.flags.tokens.create({ name: `admin ${index}`, kind: 'admin', secret });
  }
});
afterEach(() => visited.close());
afterEach(() => host.close());
afterAll(disconnectBrowser);

async function open(path: string): Promise<Visit['page']> {
  visited = await visit(`${host.page}${path}`);
  await signIn(0);
  return visited.page;
}

async function signIn(index: number): Promise<void> {
  await visited.page.getByLabel(/token/i).fill(SECRETS[index] ?? '');
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
}

/** Deletes the first token when the page sends its change, and not before: background requests must not fail first. */
async function expireFirstTokenAtChange({ page }: Visit): Promise<void> {
  const expire = async () => {
    const token = await host.flags.verifyToken(SECRETS[0] ?? '');
    await host.flags.tokens.delete({ token: token?.id ?? '' });
  };
  await page.route('**/api/admin/changes', (route) => expire().then(() => route.continue()), { times: 1 });
}

describeInBrowser('an unsaved form', () => {
  it('keeps a new flag after a reload, and after a sign-in while it is saved', async () => {
    const page = await open('projects/default');
    await page.getByRole('button', { name: 'New flag' }).click();
    const form = page.getByRole('dialog', { name: 'New flag' });
    const name = form.getByLabel('Name');
    await name.fill('half-filled');
    await form.getByLabel('Description').fill('Nearly done');
    await form.getByLabel('Type').selectOption('Experiment');
    await form.getByLabel('Labels').fill('one, two');
    await page.reload();
    await name.waitFor();
    expect(await name.inputValue()).toBe('half-filled');
    await expireFirstTokenAtChange(visited);
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await signIn(1);
    await name.waitFor();
    expect(await form.getByLabel('Labels').inputValue()).toBe('one, two');
    await page.getByRole('button', { name: 'Create flag' }).click();
    await page.getByRole('heading', { name: 'half-filled', level: 1 }).waitFor();
    expect(await host.flags.getFlag({ project: 'default', flag: 'half-filled' })).toMatchObject({
      description: 'Nearly done',
      type: 'experiment',
      labels: ['one', 'two'],
    });
    await page.getByRole('link', { name: 'Flags', exact: true }).first().click();
    await page.getByRole('link', { name: 'half-filled' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    visited.expectFault(/status 401/);
  });

  inFull('deletes the draft of a cancelled flag', async () => {
    const page = await open('projects/default');
    await page.getByRole('button', { name: 'New flag' }).click();
    await page.getByLabel('Name').fill('never');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'No flags yet' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    visited.expectFault(/status 401/);
  });

  inFull('keeps a new segment after a reload, until it is created', async () => {
    const page = await open('segments/new');
    await page.getByLabel('Name').fill('Testers');
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).toBe('Testers');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { name: 'Testers', level: 1 }).waitFor();
    await page.goto(`${host.page}segments/new`);
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    visited.expectFault(/status 401/);
  });
});
