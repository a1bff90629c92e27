import { randomUUID } from 'node:crypto';
import { extent } from '../../../../test/extent.js';
import { MEMORY, SQLITE } from '../../../core/test/storage-kinds.js';
import { headerRulesOf } from '../../src/actions.js';
import { ID_HEADER } from '../../src/api/route.js';
import { ROUTES } from '../../src/routes.js';
import { FETCH_ADAPTER } from './adapters.js';
import { startContractHost } from './contract-host.js';
import { documentedCheckOf } from './documented.js';
import { actionOf } from './endpoints.js';
import { everythingIn } from './everything.js';
import type { Row } from './row.js';
import { WRITTEN_ROWS } from './rows/all-rows.js';
import { send } from './send.js';
import { CHECKOUT } from './states.js';

const ACTIONS = ROUTES.filter((route) => headerRulesOf(route).isRepeatable).map(({ action }) => action);

const ROWS = WRITTEN_ROWS.filter(
  ({ endpoint, expect }) => ACTIONS.includes(actionOf(endpoint)) && !expect.code && !expect.unchanged,
);

/** A body may have the id too, and then it is the same. */
function keyOf({ request }: Row): string {
  const { id } = Object(request.body) as { readonly id?: unknown };
  return typeof id === 'string' && /^[\da-f-]{36}$/.test(id) ? id : randomUUID();
}

describe.each(extent({ short: [MEMORY], full: [MEMORY, SQLITE] }))('a repeated request, on $name', (storage) => {
  const proven = new Set<string>();

  it.each(ROWS.map((row) => [`${actionOf(row.endpoint)} ${row.name}`, row] as const))(
    'with its key gets the first answer, and changes nothing: %s',
    async (_, row) => {
      const host = await startContractHost(FETCH_ADAPTER, storage);
      try {
        const { app, flags } = host;
        await row.given?.(flags);
        const key = keyOf(row);
        const request = { ...row.request, headers: { ...row.request.headers, [ID_HEADER]: key } };
        const first = await send(app, request);
        expect(first.status).toBe(row.expect.status);
        const events = (await flags.events.list({ limit: 1000 })).items.filter(
          ({ changeSet, data }) => changeSet === key || Object(data).id === key,
        );
        const after = await everythingIn(flags);
        for (const sent of [key, key.toUpperCase(), `"${key}"`]) {
          const again = await send(app, { ...request, headers: { ...request.headers, [ID_HEADER]: sent } });
          expect([again.status, again.text, again.headers.etag]).toEqual([
            first.status,
            first.text,
            first.headers.etag,
          ]);
          documentedCheckOf(flags)({ ...request, response: again });
        }
        expect(await everythingIn(flags)).toEqual(after);
        if (events.length === 0) return;
        proven.add(actionOf(row.endpoint));

        await flags.createFlag({ project: 'default' }, { name: 'afterwards' });
        await flags.updateFlag(CHECKOUT, { description: 'changed since' }).catch(() => undefined);
        const later = await everythingIn(flags);
        const again = await send(app, request);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        // The tag of a state that has passed names its revision.
        expect(again.headers.etag?.split('-')[0]).toBe(first.headers.etag?.split('-')[0]);
        expect(await everythingIn(flags)).toEqual(later);
        expect(host.faults).toEqual([]);
      } finally {
        await host.stop();
      }
    },
  );

  it('is proven for every route that changes something', () => {
    expect([...proven].toSorted()).toEqual(ACTIONS.toSorted());
  });
});
