import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessibilityViolations, disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { extent, inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let visited: Visit;
/** The host's data about the caller, and the caller's permissions. */
let isSignedIn = true;
let isAllowed = true;

beforeAll(async () => {
  host = await startHost({
    router: {
      auth: ({ headers }: { readonly headers: Record<string, unknown> }) =>
        isSignedIn && String(headers.cookie).includes('session=ada') ? { name: 'ada' } : undefined,
      authorize: (_actor: unknown, action: string) => isAllowed || /^(get|list|count|preview|explain)/.test(action),
    },
    ui: { signIn: '/login' },
  });
  await seed(host);
});
afterAll(async () => {
  await disconnectBrowser();
  await host.close();
});
afterEach(async () => {
  [isSignedIn, isAllowed] = [true, true];
  await visited.close();
});

const ref = { project: 'default', flag: 'checkout' };
const isOn = async (environment: string) =>
  (await host.flags.getFlag(ref)).environments.find(({ name }) => name === environment)?.enabled;

async function open(path = 'projects/default'): Promise<Visit['page']> {
  const storageState = {
    cookies: [
      {
        name: 'session',
        value: 'ada',
        domain: '127.0.0.1',
        path: '/',
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: 'Lax' as const,
      },
    ],
    origins: [],
  };
  visited = await visit(`${host.page}${path}`, { storageState });
  return visited.page;
}

describeInBrowser('what may go wrong', () => {
  it('asks to sign in after 401, and keeps the draft', async () => {
    const page = await open('projects/default/flags/checkout/production');
    await page.getByLabel('Rollout of strategy 1 in percent').fill('60');
    await page.getByText(/become on/).waitFor();
    isSignedIn = false;
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    isSignedIn = true;
    await page.reload();
    const rollout = page.getByLabel('Rollout of strategy 1 in percent');
    await rollout.waitFor();
    expect(await rollout.inputValue()).toBe('60');
    visited.expectFault(/status 401/);
  });

  inFull('says so after 403, and disables what is no longer allowed', async () => {
    const page = await open();
    const control = page.getByRole('switch', { name: 'checkout in development' });
    await control.waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    isAllowed = false;
    await control.click();
    await page.getByText('You are not allowed to do this.').waitFor();
    await page.locator('[aria-label="checkout in development"][aria-disabled=true]').waitFor();
    expect(await control.getAttribute('title')).toBe('Needs the permission disable');
    expect(await accessibilityViolations(page)).toEqual([]);
    visited.expectFault(/status 403/);
  });

  inFull('says who has archived or deleted a flag after 404', async () => {
    await host.flags.createFlag({ project: 'default' }, { name: 'short-lived' });
    const page = await open('projects/default/flags/short-lived');
    await page.getByRole('switch', { name: 'short-lived in production' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await host.flags.as('bob').archiveFlag({ project: 'default', flag: 'short-lived' });
    await page.getByText('This flag is archived').waitFor();
    await host.flags.as('bob').deleteFlag({ project: 'default', flag: 'short-lived' });
    await page.goto(`${host.page}projects/default/flags/short-lived`);
    await page.getByText('This flag was deleted').waitFor();
    await page.getByText(/bob deleted it/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.goto(`${host.page}no/such/page`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    visited.expectFault(/status 404/);
  });

  inFull('refuses with 412 what somebody else has changed meanwhile, and shows the newest state', async () => {
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('switch', { name: 'checkout in production' }).click();
    await page.route('**/event-stream', (route) => route.abort());
    await page.getByRole('dialog').getByText('become off').waitFor();
    await host.flags.as('bob').updateFlag(ref, { description: 'By bob' });
    await page.getByRole('button', { name: 'Change production' }).click();
    await page.getByText('Somebody else has changed this in the meantime').waitFor();
    expect(await isOn('production')).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByText('By bob').first().waitFor();
    // No request may fail once the faults are taken off the list.
    await page.unroute('**/event-stream');
    await page.getByText('Live', { exact: true }).waitFor();
    visited.expectFault(/status 412|failed|ERR_FAILED/);
  });

  inFull('keeps what is known after 503, and tries again', async () => {
    const page = await open('projects/default/flags/checkout');
    await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const body = JSON.stringify({ code: 'storage_unavailable', message: 'The storage does not answer.' });
    await page.route('**/features/checkout', (route) =>
      route.fulfill({ status: 503, contentType: 'application/json', body }),
    );
    await host.flags.as('bob').updateFlag(ref, { description: 'After the outage' });
    await page.getByText('The storage does not answer.').waitFor();
    await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.unroute('**/features/checkout');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('After the outage').first().waitFor();
    await page.getByText('The storage does not answer.').waitFor({ state: 'hidden' });
    visited.expectFault(/status 503/);
  });

  it('offers to try again on every screen that cannot be read, and shows its location', async () => {
    const page = await open('');
    await page.locator('nav [aria-current=page]').getByText('Flags').waitFor();
    const body = JSON.stringify({ code: 'storage_unavailable', message: 'The storage does not answer.' });
    const fail = (route: Parameters<Parameters<typeof page.route>[1]>[0]) =>
      route.fulfill({ status: 503, contentType: 'application/json', body });
    const screens = {
      segments: '**/api/admin/segments',
      'segments/1': '**/api/admin/segments/1',
      events: '**/api/admin/history?*',
      applications: '**/api/admin/metrics/applications',
      'applications/shop': '**/api/admin/metrics/applications/shop',
      tokens: '**/api/admin/api-tokens',
      why: '**/api/admin/playground',
      'projects/default/members': '**/api/admin/projects/default/users',
      'projects/default': '**/api/admin/features?*',
      'projects/default/flags/checkout': '**/api/admin/projects/default/features/checkout',
    };
    // Without events, nothing is read again by itself.
    await page.route('**/event-stream', (route) => route.abort());
    for (const [path, request] of Object.entries(screens)) {
      await page.route(request, fail);
      await page.goto(`${host.page}${path}`);
      const again = page.locator('main .fault', { hasText: 'The storage does not answer.' }).getByText('Try again');
      await again.first().waitFor();
      await page.unroute(request);
      await again.first().click();
      await page.getByText('The storage does not answer.').waitFor({ state: 'hidden' });
    }
    visited.expectFault(/status (503|404)|failed: GET .*event-stream|ERR_FAILED/);
  });

  inFull('shows changes between its first read and the start of the stream', async () => {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const page = await open('tokens');
    await page.route('**/event-stream', async (route) => {
      await begun;
      await route.continue();
    });
    const description = page.getByText('Changed before the stream', { exact: true });
    for (const path of ['projects/default', 'projects/default/flags/checkout']) {
      await page.goto(`${host.page}${path}`);
      await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    }
    await host.flags.updateFlag(ref, { description: 'Changed before the stream' });
    expect(await description.count()).toBe(0);
    begin();
    await description.first().waitFor();
  });

  it('shows that the stream is lost, and since when, and recovers', async () => {
    const page = await open();
    await page.getByText('Live', { exact: true }).waitFor();
    const colors = await page.locator('.liveness').evaluate((state) =>
      ['live', 'connecting', 'lost'].map((name) => {
        state.setAttribute('class', `liveness ${name}`);
        return getComputedStyle(state.children[0] ?? state).backgroundColor;
      }),
    );
    expect(new Set(colors).size).toBe(3);
    await page.route('**/event-stream', (route) => route.abort());
    await page.clock.install();
    // The page tries again after some seconds, which pass at once.
    const after = async (text: ReturnType<typeof page.getByText>) => {
      while (!(await text.isVisible())) await page.clock.fastForward(1_000);
    };
    await page.reload();
    await after(page.getByText(/Connection lost: shown as of/));
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.unroute('**/event-stream');
    await after(page.getByText('Live', { exact: true }));
    visited.expectFault(/failed: GET .*event-stream|ERR_FAILED/);
  });
});

describeInBrowser('pages of other origins', () => {
  const kinds = ['cookies of the host', ...extent({ short: [], full: ['no authentication'] })];
  it.each(kinds)('cannot write with %s from another port', async (kind) => {
    const open_ = kind === 'no authentication' ? await startHost() : undefined;
    if (open_) await seed(open_);
    const target = open_ ?? host;
    const attacker = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><iframe name="hidden"></iframe><form method="post" target="hidden"></form>');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => attacker.once('listening', resolve));
    await open();
    const { page } = visited;
    await page.goto(`http://127.0.0.1:${(attacker.address() as AddressInfo).port}/`);
    const api = target.page.replace(/ui\/$/, 'api/admin/');
    const environment = `${api}projects/default/features/dark-mode/environments/production/on`;
    const refusals: number[] = [];
    page.on('response', (response) => refusals.push(response.status()));
    await page.evaluate(
      ([features, on]) => {
        const options: RequestInit = { method: 'POST', mode: 'no-cors', credentials: 'include' };
        void fetch(features ?? '', { ...options, body: new Blob(['{"name":"forged"}']) });
        void fetch(on ?? '', options);
        const form = document.querySelector('form');
        form?.setAttribute('action', on ?? '');
        form?.submit();
      },
      [`${api}projects/default/features`, environment],
    );
    await until(() => refusals.length >= 3);
    expect(refusals).toEqual([403, 403, 403]);
    const { items: flags } = await target.flags.listFlags({ project: 'default' });
    expect(flags.some(({ name }) => name === 'forged')).toBe(false);
    const { environments } = await target.flags.getFlag({ project: 'default', flag: 'dark-mode' });
    expect(environments.every(({ enabled }) => !enabled)).toBe(true);
    // The page itself writes with the same credentials.
    await page.goto(`${target.page}projects/default`);
    await page.getByRole('switch', { name: 'old-banner in development' }).click();
    await page.getByText(/old-banner is (on|off) in development/).waitFor();
    visited.expectFault(/status 403|failed: POST/);
    await page.goto('about:blank');
    attacker.closeAllConnections();
    attacker.close();
    await open_?.close();
  });
});
