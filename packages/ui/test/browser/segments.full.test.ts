import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost();
  await seed(host);
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

/** A segment that the first strategy of checkout uses in production. */
async function usedSegment(name: string): Promise<number> {
  const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['1', '2', '3'] }];
  const { id } = await host.flags.segments.create({ name, description: HOSTILE, constraints });
  const ref = { project: 'default', flag: 'checkout', environment: 'production' };
  const { environments } = await host.flags.getFlag(ref);
  const [strategy] = environments.find((one) => one.name === 'production')?.strategies ?? [];
  await host.flags.updateStrategy(
    { ...ref, strategy: strategy?.id ?? '' },
    { name: 'default', parameters: {}, segments: [id] },
  );
  return id;
}

describeInBrowser('the list of segments', () => {
  it('creates a segment, shows it, and deletes it', async () => {
    const page = await open('segments');
    await page.getByRole('heading', { name: 'No segments yet' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByLabel('Name').fill('eu');
    await page.getByRole('button', { name: 'Constraint' }).click();
    await page.getByLabel('Constraint 1: field').fill('country');
    await page.getByLabel('Constraint 1: add a value').fill('DE, AT');
    await page.getByLabel('Constraint 1: add a value').press('Enter');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('heading', { name: 'eu', level: 1 }).waitFor();
    await page.getByText('is one of DE, AT').waitFor();
    const [segment] = (await host.flags.segments.list()).items;
    expect(segment).toMatchObject({ name: 'eu', constraints: [{ contextName: 'country', values: ['DE', 'AT'] }] });
    await page.getByRole('link', { name: 'Segments' }).first().click();
    await page.getByRole('rowheader', { name: 'eu' }).getByRole('link').click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Confirm: delete eu' }).click();
    await page.getByText('The segment eu was deleted.').waitFor();
    expect((await host.flags.segments.list()).items).toEqual([]);
  });

  inFull('shows at its field why a name is refused', async () => {
    await host.flags.segments.create({ name: 'taken', constraints: [] });
    const page = await open('segments/new');
    await page.getByLabel('Name').fill('taken');
    await page.getByRole('button', { name: 'Create segment' }).click();
    await page.getByRole('alert').waitFor();
    expect(visited.expectFault(/status 409/)).toBe(1);
    await page.getByRole('button', { name: 'Constraint' }).click();
    await page.getByText('Constraint 1 has no value yet.').waitFor();
    expect(await page.getByRole('button', { name: 'Create segment' }).getAttribute('aria-disabled')).toBe('true');
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('previews changes for the flags that use a segment, reviews, and saves', async () => {
    const id = await usedSegment('beta');
    const page = await open(`segments/${id}`);
    await page.getByText(HOSTILE).waitFor();
    await page.getByRole('link', { name: 'checkout in production' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Constraint 1: add a value').fill('4, 5');
    await page.getByLabel('Constraint 1: add a value').press('Enter');
    await page.getByText('+ 2 become on').waitFor();
    await page.getByRole('region', { name: 'Users who change' }).getByRole('rowheader', { name: '5' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.reload();
    await page.getByText('1 difference').waitFor();
    await host.flags.as('bob').segments.update({ segment: id }, { description: 'By bob' });
    await until(async () => (await page.getByLabel('Description').inputValue()) === 'By bob');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByText('become on').waitFor();
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('The segment beta was changed.').waitFor();
    expect(await host.flags.segments.get({ segment: id })).toMatchObject({
      description: 'By bob',
      constraints: [{ values: ['1', '2', '3', '4', '5'] }],
    });
  });

  it('counts in the preview and the review made-up users with the fields that the constraints read', async () => {
    const id = await usedSegment('countries');
    const countries = ['DE', 'AT', 'FR', 'NL'];
    await host.flags.segments.update(
      { segment: id },
      { constraints: [{ contextName: 'country', operator: 'IN', values: countries }] },
    );
    const page = await open(`segments/${id}/edit`);
    await page.getByRole('button', { name: 'Remove NL' }).click();
    const groups = /200 with country NL, 200 with country DE, .*200 without/;
    await page.getByText('now on for 800 → then for 600').waitFor();
    await page.getByText(groups).waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(groups).waitFor();
    await dialog.getByText('− NL', { exact: true }).waitFor();
    await dialog.getByText('− 200 become off').waitFor();
    expect(await page.getByText(/Cannot tell/).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('1,000 made-up users', { exact: true }).waitFor();
  });

  inFull('shows who uses a segment instead of deleting it', async () => {
    const id = await usedSegment('used');
    const page = await open(`segments/${id}`);
    await page.getByText('1 strategy', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog', { name: 'used is in use' });
    await dialog.getByRole('link', { name: 'checkout in production' }).waitFor();
    expect(await dialog.getByRole('button', { name: /Confirm/ }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  inFull('renders some twenty rows for 50,000 pasted values, and finds one of them', async () => {
    const values = Array.from({ length: 50_000 }, (_, index) => `user-${index}`);
    const { id } = await host.flags.segments.create({
      name: 'large',
      constraints: [{ contextName: 'userId', operator: 'IN', values: values.slice(0, 40_000) }],
    });
    const page = await open(`segments/${id}/edit`);
    await page.getByText('40,000 values').waitFor();
    await page.getByLabel('Constraint 1: add a value').evaluate((field, text) => {
      const data = new DataTransfer();
      data.setData('text', text);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, values.join('\n'));
    await page.getByText('50,000 values').waitFor();
    expect(await page.locator('.long-list-row').count()).toBeLessThan(30);
    await page.getByLabel('Constraint 1: search the values').fill('user-49999');
    await page.getByRole('button', { name: 'Remove user-49999' }).click();
    await page.getByText('0 of 49,999 values').waitFor();
    await page.getByLabel('Constraint 1: search the values').fill('');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Apply changes' }).click();
    await page.getByText('The segment large was changed.').waitFor();
    const { constraints } = await host.flags.segments.get({ segment: id });
    expect(constraints[0]?.values).toHaveLength(49_999);
  });

  inFull('reports that a segment does not exist', async () => {
    const page = await open('segments/999');
    await page.getByRole('heading', { name: 'There is no such segment' }).waitFor();
    expect(visited.expectFault(/status 404/)).toBeGreaterThan(0);
    expect(await accessibilityViolations(page)).toEqual([]);
  });
});
