import { type Flags, openFlags } from '@flags/core';
import { approve } from '../../../core/test/change-requests/protected.js';
import { DEFAULT, PRODUCTION } from '../../../core/test/references.js';
import { addGradual, percentage, STEPS } from '../../../core/test/rollouts/start.js';
import { DAY, HOUR, settableClock } from '../../../core/test/settable-clock.js';
import { postgresStorage } from '../../src/index.js';
import { type Cut, type CuttingProxy, startCuttingProxy } from '../commit/cutting-proxy.js';
import { ownDatabase } from '../own-database.js';

jest.setTimeout(120_000);

const CUTS: readonly Exclude<Cut, 'never'>[] = [
  'before the database hears',
  'before the client hears',
  'for good, before the client hears',
];

describe('what is due on PostgreSQL', () => {
  const database = ownDatabase();
  const clock = settableClock();
  const running: Flags[] = [];
  let proxy: CuttingProxy;

  beforeAll(async () => {
    proxy = await startCuttingProxy(database.url());
  });
  afterEach(() => Promise.all(running.splice(0).map((flags) => flags.close())));
  afterAll(() => proxy.close());

  async function start(connectionString: string, schema: string): Promise<Flags> {
    const storage = await postgresStorage({ connectionString, schema, listen: false, outcomeTimeout: 300 });
    const options = { now: clock.now, pollInterval: 0, due: { run: 'elsewhere' }, onError: () => undefined } as const;
    const flags = await openFlags({ storage, ...options });
    running.push(flags);
    return flags;
  }

  /** Does what is due while the answer to its commit is lost, and once more when the database answers again. */
  async function runDespite(flags: Flags, cut: Cut): Promise<void> {
    proxy.cuts = 0;
    proxy.cut = cut;
    await flags.runDue().catch(() => undefined);
    expect(proxy.cuts).toBeGreaterThan(0);
    proxy.cut = 'never';
    await flags.runDue();
  }

  describe.each(CUTS)('whose commit is cut %s', (cut) => {
    const schema = `cut_${CUTS.indexOf(cut)}`;

    it('is applied exactly once: a change request, a step of a rollout, and an approved request with a time', async () => {
      const flags = await start(database.url(), schema);
      const acting = await start(proxy.url, schema);
      const ref = await addGradual(flags);
      await flags.createFlag(DEFAULT, { name: 'later' });
      const later = { ...PRODUCTION, flag: 'later' };
      await flags.addStrategy(later, { name: 'default' });
      const enable = [{ op: 'enable', ref: later }] as const;

      const { id } = await flags.changeRequests.create(enable, { at: clock.text(HOUR) });
      clock.advance(HOUR);
      await runDespite(acting, cut);
      expect((await flags.changeRequests.get({ changeRequest: id })).state).toBe('applied');

      await flags.rollouts.start(ref, STEPS);
      clock.advance(DAY);
      await runDespite(acting, cut);
      await flags.refresh();
      expect((await flags.rollouts.list()).items).toMatchObject([{ state: 'running', step: 1 }]);
      expect(await percentage(flags)).toBe('25');
      await flags.rollouts.stop(ref);

      await flags.disable(later);
      await flags.approvalPolicy.set({ environments: { production: { required: 1 } } });
      const made = await flags.as('ada').changeRequests.create(enable, { reason: 'Launch', at: clock.text(HOUR) });
      const request = { changeRequest: made.id };
      await approve(flags, request);
      clock.advance(HOUR);
      await runDespite(acting, cut);
      expect((await flags.changeRequests.get(request)).state).toBe('applied');

      const countOf = async (type: Parameters<Flags['events']['list']>[0]) => (await flags.events.list(type)).total;
      expect(await countOf({ type: 'environment-enabled', flag: 'later' })).toBe(2);
      expect(await countOf({ type: 'change-request-ended' })).toBe(2);
      expect(await countOf({ type: 'rollout-stepped' })).toBe(1);
    });
  });
});
