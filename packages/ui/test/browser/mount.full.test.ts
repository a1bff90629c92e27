import { accessibilityViolations, disconnectBrowser, visit } from '@flags/test-browser';
import { extent, inFull } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { describeInBrowser, type Host, type HostOptions, seed, startHost } from './host.js';

const SECRET = 'a-secret-that-is-long-enough-for-an-admin-token';

let host: Host;

afterEach(async () => {
  await host.close();
});
afterAll(disconnectBrowser);

describeInBrowser('the mounted page', () => {
  const hardest: HostOptions = { framework: 'express5', gateway: '/gate/way', mount: '/flags', helmet: true };
  const places: readonly HostOptions[] = extent({
    short: [hardest],
    full: [
      { framework: 'express4' },
      { framework: 'express4', mount: '/a/b', helmet: true },
      { framework: 'express5', mount: '/a/b' },
      hardest,
    ],
  });

  it.each(places)('works with deep links, reload and back under %j', async (place) => {
    host = await startHost(place);
    await seed(host);
    const { page, close } = await visit(`${host.page}projects/default`);
    await page.getByRole('link', { name: 'checkout' }).click();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    expect(page.url()).toBe(`${host.page}projects/default/flags/checkout`);
    await page.reload();
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    await page.goto(host.page.slice(0, -1));
    await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor();
    await close();
  });

  it('asks for a token, keeps it for this tab only, and forgets it', async () => {
    host = await startHost({ router: { auth: 'token' } });
    await seed(host);
    await host.flags.tokens.create({ name: 'admin', kind: 'admin', secret: SECRET });
    const { page, expectFault, close } = await visit(`${host.page}projects/default?q=check`);
    const field = page.getByLabel(/token/i);
    await field.fill('a wrong one');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('does not accept this token').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await field.fill(SECRET);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    await page.reload();
    await page.getByRole('switch', { name: 'checkout in production' }).waitFor();
    expect(page.url()).toBe(`${host.page}projects/default?q=check`);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(SECRET);
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByLabel(/token/i).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(SECRET);
    expectFault(/status 401/);
    await close();
  });

  inFull('links to the sign-in of the host, and passes the return address', async () => {
    host = await startHost({ router: { auth: () => undefined }, ui: { signIn: '/login' } });
    const { page, close } = await visit(`${host.page}projects/default?q=check`);
    const link = page.getByRole('link', { name: 'Sign in' });
    const target = new URL((await link.getAttribute('href')) ?? '');
    expect(target.pathname).toBe('/login');
    expect(target.searchParams.get('return')).toBe('/ui/projects/default?q=check');
    expect(await page.getByLabel(/token/i).count()).toBe(0);
    await close();
  });

  it.each([
    ['/login', '/ui/projects/default?q=check&as=userId%3D7'],
    ['https://sign-in.example.org/', '/ui/projects/default?q=check'],
  ])('gives the context of the page to the sign-in of its own origin only: %s', async (signIn, back) => {
    host = await startHost({ router: { auth: () => undefined }, ui: { signIn } });
    const { page, close } = await visit(`${host.page}projects/default?q=check&as=userId%3D7`);
    const link = page.getByRole('link', { name: 'Sign in' });
    expect(new URL((await link.getAttribute('href')) ?? '').searchParams.get('return')).toBe(back);
    await close();
  });

  it('shows one sign-in first, and the token behind it', async () => {
    const auth = { session: () => null, tokens: true } as const;
    host = await startHost({ router: { auth, authorize: () => true }, ui: { signIn: '/login' } });
    await host.flags.tokens.create({ name: 'admin', kind: 'admin', secret: SECRET });
    const { page, close } = await visit(`${host.page}tokens`);
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
    await page.getByText('Use an admin token instead').click();
    await page.getByLabel('Admin token').fill(SECRET);
    await page.getByRole('button', { name: 'Use the token' }).click();
    await page.getByRole('rowheader', { name: 'admin' }).waitFor();
    await close();
  });

  it('shows on every page that authentication is off, and the banner of the host', async () => {
    host = await startHost({ ui: { title: 'Shop', home: '/', banner: { text: 'Staging', tone: 'danger' } } });
    const { page, close } = await visit(host.page);
    await page.getByText('everybody who can open this page can change every flag').waitFor();
    await page.getByText('Staging').waitFor();
    await page.getByRole('link', { name: 'Back to the application' }).waitFor();
    expect(await page.title()).toBe('Flags · Shop');
    await close();
  });
});

describeInBrowser('the browser of the tests', () => {
  const provoked: readonly (readonly [string, string, RegExp])[] = [
    ['a foreign image', "void (new Image().src = 'http://elsewhere.invalid/x.png')", /policy: img-src/],
    ['a style', "document.head.appendChild(document.createElement('style')).append('a {}')", /policy: style-src/],
    ['an error on the console', "console.error('broken')", /console: broken/],
    ['an uncaught error', "void setTimeout(() => { throw new Error('oops') })", /uncaught: .*oops/],
    ['a refused request', "fetch('../api/admin/nothing').then(() => {})", /status 404/],
  ];
  it.each(extent({ short: provoked.slice(0, 1), full: provoked }))('notices %s', async (_, script, fault) => {
    host = await startHost();
    const visited = await visit(host.page);
    const { page } = visited;
    await page.getByRole('heading', { name: 'Flags', exact: true }).waitFor();
    await page.evaluate(script);
    await until(() => visited.expectFault(fault) > 0);
    visited.expectFault(/^/);
    await visited.close();
  });
});
