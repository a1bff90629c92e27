import { ACTIONS } from '../app/api/actions.js';
import { type Host, startHost } from './browser/host.js';

let host: Host;

beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

it('sends only requests that the document of the API has', async () => {
  const response = await fetch(new URL('../api/admin/openapi.json', host.page));
  const { paths } = (await response.json()) as { readonly paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${withoutNames(path)}`),
  );
  expect(documented).toEqual(
    expect.arrayContaining(Object.values(ACTIONS).map(([method, path]) => `${method} ${withoutNames(path)}`)),
  );
});

/** Parameters have names of their own in the document. */
function withoutNames(path: string): string {
  return path.replaceAll(/:\w+|\{\w+\}/g, '*');
}
