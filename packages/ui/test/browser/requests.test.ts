import { disconnectBrowser, type Visit, visit } from '@flags/test-browser';
import { inFull } from '../../../../test/extent.js';
import { describeInBrowser, type Host, seed, startHost } from './host.js';

let host: Host;
let visited: Visit;

beforeAll(async () => {
  host = await startHost();
  await seed(host, 120);
});
afterAll(async () => {
  await disconnectBrowser();
  await host.close();
});
afterEach(() => visited.close());

/** Opens a page, waits until it has loaded, and lists its requests from then on. */
async function follow(path: string, lastLoaded: string): Promise<string[]> {
  visited = await visit(`${host.page}${path}`);
  await visited.page.getByText('Live', { exact: true }).waitFor();
  await visited.page.getByText(lastLoaded).first().waitFor();
  const requests: string[] = [];
  visited.page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  return requests;
}

/** Changes a hundred flags in one set. */
async function changeAll(description: string): Promise<void> {
  const page = await host.flags.listFlags({ project: 'default' }, { limit: 100 });
  await host.flags.apply(
    page.items.map(({ name: flag }) => ({
      op: 'updateFlag' as const,
      ref: { project: 'default', flag },
      input: { description },
    })),
  );
}

describeInBrowser('requests of the page', () => {
  it('are at most ten after a set of 100 changes, with a flag page open', async () => {
    const requests = await follow('projects/default/flags/checkout', 'enabled the flag');
    await changeAll('Changed in one set');
    await visited.page.getByText('Changed in one set').first().waitFor();
    expect(requests).toHaveLength(Math.min(requests.length, 10));
  });

  inFull('are few after a set of 100 changes, with the list open', async () => {
    const requests = await follow('projects/default', 'checkout');
    await changeAll('Changed in one set again');
    await visited.page.getByText('Changed in one set again').first().waitFor();
    expect(requests).toHaveLength(Math.min(requests.length, 10));
  });
});
