import type { StorageKind } from '../../../core/test/storage-kinds.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { expressAdapter } from './adapters.js';
import { type ContractHost, startContractHost } from './contract-host.js';
import { send } from './send.js';
import { CHECKOUT, checkout, DEFAULT, FEATURES, FLAG, PROJECT, withStrategy } from './states.js';

function casesOf(storages: readonly StorageKind[]) {
  return EXPRESS_VERSIONS.flatMap((version) =>
    storages.map((storage) => ({ version, storage, title: `upon Express ${version.major}, on ${storage.name}` })),
  );
}

function countOf(responses: readonly { readonly status: number }[]): Readonly<Record<number, number>> {
  const counts = new Map<number, number>();
  for (const { status } of responses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Tests the results of simultaneous callers, on every version of Express. */
export function runConcurrency(storages: readonly StorageKind[]): void {
  describe.each(casesOf(storages))('simultaneous requests, $title', ({ version, storage }) => {
    let host: ContractHost;

    beforeEach(async () => {
      host = await startContractHost(expressAdapter(version), storage);
    });

    afterEach(() => host.stop());

    it('create one flag of fifty with one name', async () => {
      const creations = Array.from({ length: 50 }, () =>
        send(host.app, { method: 'POST', path: FEATURES, body: { name: 'checkout' } }),
      );
      expect(countOf(await Promise.all(creations))).toEqual({ 201: 1, 409: 49 });
      expect((await host.flags.events.list({ flag: 'checkout' })).total).toBe(1);
    });

    it('let exactly one of two owners leave, repeatedly', async () => {
      await host.flags.addMember(DEFAULT, { userId: 1, roleId: 4 });
      for (let round = 2; round <= 11; round++) {
        const [owner] = (await host.flags.listMembers(DEFAULT)).items;
        await host.flags.addMember(DEFAULT, { userId: round, roleId: 4 });
        const leave = (user: number | undefined) =>
          send(host.app, { method: 'DELETE', path: `${PROJECT}/users/${user}/roles/4` });
        const responses = await Promise.all([leave(owner?.userId), leave(round)]);
        expect(countOf(responses)).toEqual({ 200: 1, 400: 1 });
        expect((await host.flags.listMembers(DEFAULT)).items).toHaveLength(1);
      }
    });

    it('succeed exactly once of two changes of the same revision', async () => {
      await checkout(host.flags);
      for (let round = 0; round < 5; round++) {
        const { etag } = (await send(host.app, { method: 'GET', path: FLAG })).headers;
        const edit = (description: string) =>
          send(host.app, {
            method: 'PUT',
            path: FLAG,
            headers: { 'if-match': etag },
            body: { name: 'checkout', description },
          });
        const responses = await Promise.all([edit(`Ada ${round}`), edit(`Grace ${round}`)]);
        expect(countOf(responses)).toEqual({ 200: 1, 412: 1 });
        const winner = responses.find(({ status }) => status === 200);
        expect((await host.flags.getFlag(CHECKOUT)).description).toBe(winner?.body.description);
      }
    });

    it('keep every strategy of many that are added', async () => {
      await withStrategy(host.flags);
      const additions = Array.from({ length: 20 }, (_, n) =>
        send(host.app, {
          method: 'POST',
          path: `${FLAG}/environments/development/strategies`,
          body: { name: `own-${n}` },
        }),
      );
      expect(countOf(await Promise.all(additions))).toEqual({ 200: 20 });
      const [development] = (await host.flags.getFlag(CHECKOUT)).environments;
      expect(new Set(development?.strategies.map(({ name }) => name)).size).toBe(20);
    });

    it('switch on and off with one event per effective change', async () => {
      await withStrategy(host.flags);
      const { total } = await host.flags.events.list({ limit: 0 });
      const switches = Array.from({ length: 10 }, (_, n) =>
        send(host.app, { method: 'POST', path: `${FLAG}/environments/production/${n % 2 ? 'on' : 'off'}` }),
      );
      expect(countOf(await Promise.all(switches))).toEqual({ 200: 10 });
      const { items: events } = await host.flags.events.list({ flag: 'checkout' });
      const changes = events
        .filter(({ environment, type }) => environment && type.startsWith('environment-'))
        .reverse();
      expect((await host.flags.events.list({ limit: 0 })).total).toBe(total + changes.length);
      const expected = changes.map((_, n) => (n % 2 ? 'environment-disabled' : 'environment-enabled'));
      expect(changes.map(({ type }) => type)).toEqual(expected);
    });
  });
}
