import { randomUUID } from 'node:crypto';
import { extent } from '../../../../test/extent.js';
import { type Change, type Flags, memoryStorage, openFlags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';

const POLICY = { environments: { production: { required: 1 } } };
const ROUNDS = extent({ short: 10, full: 1000 });
const BYPASS = { bypassApproval: 'INC-42' };
const ON = { name: 'default' } as const;

/** A flag that is on in production, and a policy that protects it. */
async function protect(flags: Flags<string>): Promise<Flags<string>> {
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  await flags.addStrategy(PRODUCTION, ON);
  await flags.enable(PRODUCTION);
  await flags.approvalPolicy.set(POLICY);
  return flags;
}

async function isOn(flags: Flags<string>): Promise<boolean> {
  const { environments } = await flags.getFlag(CHECKOUT);
  return environments.some(({ name, enabled }) => name === 'production' && enabled);
}

onEveryStorage((start, share) => {
  describe('while a policy protects an environment', () => {
    it('every way to change what its clients see is refused, and changes nothing', async () => {
      const flags = await protect(await start());
      const segment = (await flags.segments.create({ name: 'vip', constraints: [] })).id;
      const { items } = await flags.history.list(CHECKOUT);
      const [enabled] = items.filter(({ events }) => events.some(({ type }) => type === 'environment-enabled'));
      const changes: readonly Change<string>[] = [{ op: 'addStrategy', ref: PRODUCTION, input: ON }];
      const attempts = [
        () => flags.addStrategy(PRODUCTION, ON),
        () => flags.addStrategy(PRODUCTION, { ...ON, segments: [segment] }),
        () => flags.archiveFlag(CHECKOUT),
        () => flags.apply(changes),
        () => flags.setVariants(CHECKOUT, [{ name: 'blue', weight: 1000 }]),
        () => flags.definitions.import({ version: 1, flags: [{ name: 'checkout', archived: true }] }),
      ];
      for (const attempt of attempts) await expectRefusal(flags, 'approval_required', attempt);
      // Off is free, and its undo would switch the flag on.
      const off = await flags.apply([{ op: 'disable', ref: PRODUCTION }]);
      await expectRefusal(flags, 'approval_required', () => flags.history.undo({ changeSet: off.id ?? '' }));
      expect(enabled).toBeDefined();
      expect(await isOn(flags)).toBe(false);
    });

    it('the refusal names the environment, and each flag in a detail of its own', async () => {
      const flags = await protect(await start());
      const { message, details } = await refusalOf(flags.archiveFlag(CHECKOUT));
      expect(message).toContain('production');
      expect(message).not.toContain('checkout');
      expect(details).toEqual([
        {
          message: 'checkout in default goes from on to absent in production',
          path: '/environments/production/default/checkout',
        },
      ]);
    });

    it('what its clients do not see is free, and so is switching off', async () => {
      const flags = await protect(await start());
      await flags.updateFlag(CHECKOUT, { description: 'Text', stale: true, labels: ['x'] });
      await flags.addStrategy(DEVELOPMENT, ON);
      await flags.enable(DEVELOPMENT);
      await flags.createFlag(DEFAULT, { name: 'new' });
      await flags.segments.create({ name: 'vip', constraints: [] });
      await flags.addStrategy({ ...PRODUCTION, flag: 'new' }, ON);
      await flags.disable(PRODUCTION);
      await flags.plan([{ op: 'enable', ref: PRODUCTION }]);
      expect(await isOn(flags)).toBe(false);
    });

    it('a flag that is off cannot be deleted, because callers may have the fallback true', async () => {
      const flags = await protect(await start());
      await flags.disable(PRODUCTION);
      await expectRefusal(flags, 'approval_required', () => flags.archiveFlag(CHECKOUT));
    });

    it('a segment that a strategy uses, and a parent, count for the flags that need them', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'parent' });
      await flags.addStrategy({ ...PRODUCTION, flag: 'parent' }, ON);
      await flags.enable({ ...PRODUCTION, flag: 'parent' });
      await protect(flags);
      const { id: segment } = await flags.segments.create({ name: 'vip', constraints: [] });
      await flags.addDependency(CHECKOUT, { flag: 'parent' }, BYPASS);
      await flags.addStrategy(PRODUCTION, { ...ON, segments: [segment] }, BYPASS);
      const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
      await expectRefusal(flags, 'approval_required', () =>
        flags.segments.update({ segment }, { name: 'vip', constraints }),
      );
      await flags.segments.update({ segment }, { name: 'vip', description: 'Text' });
      // The child goes off with its parent.
      await flags.disable({ ...PRODUCTION, flag: 'parent' });
      await expectRefusal(flags, 'approval_required', () => flags.enable({ ...PRODUCTION, flag: 'parent' }));
    });

    it('a bypass needs a reason, which the events have after the one of the change', async () => {
      const flags = await protect(await start());
      await flags.archiveFlag(CHECKOUT, { reason: 'Gone', ...BYPASS });
      const { items } = await flags.events.list({ type: 'flag-archived' });
      expect(items).toMatchObject([{ origin: 'bypass', reason: 'Gone\nINC-42' }]);
      await expectRefusal(flags, 'invalid_input', () => flags.reviveFlag(CHECKOUT, { bypassApproval: ' ' }));
      await expectRefusal(flags, 'invalid_input', () =>
        flags.reviveFlag(CHECKOUT, { bypassApproval: 'x'.repeat(1001) }),
      );
      const token = { id: 't', name: 'ci', kind: 'admin' } as const;
      await expectRefusal(flags, 'forbidden', () => flags.as(token).reviveFlag(CHECKOUT, BYPASS));
    });

    it('a bypass of a change that needs no approval has no effect', async () => {
      const flags = await protect(await start());
      await flags.updateFlag(CHECKOUT, { stale: true }, { reason: 'Old', ...BYPASS });
      await flags.disable(PRODUCTION, BYPASS);
      await flags.apply([{ op: 'enable', ref: PRODUCTION }], { reason: 'Back', ...BYPASS });
      const { items } = await flags.events.list({ limit: 3 });
      expect(items.map(({ type, origin, reason }) => [type, origin, reason])).toEqual([
        ['environment-enabled', 'bypass', 'Back\nINC-42'],
        ['environment-disabled', null, null],
        ['flag-stale-on', null, 'Old'],
      ]);
    });

    it('plans, undos and dry imports say which approval they need', async () => {
      const flags = await protect(await start());
      const environments = { production: { required: 1 }, development: { required: 3 } };
      const enable = { op: 'addStrategy', ref: PRODUCTION, input: ON } as const;
      expect((await flags.plan([enable])).approval).toEqual({ required: 1, environments: ['production'] });
      const off = await flags.apply([{ op: 'disable', ref: PRODUCTION }]);
      const { approval } = await flags.history.planUndo({ changeSet: off.id ?? '' });
      expect(approval).toEqual({ required: 1, environments: ['production'] });
      const document = { version: 1, flags: [{ name: 'checkout', archived: true }] } as const;
      const dry = await flags.definitions.import(document, { dryRun: true });
      expect(dry.approval).toEqual({ required: 1, environments: ['production'] });
      await flags.addStrategy(DEVELOPMENT, ON);
      await flags.enable(DEVELOPMENT);
      await flags.approvalPolicy.set({ environments });
      const gone = await flags.plan([{ op: 'archiveFlag', ref: CHECKOUT }]);
      expect(gone.approval).toEqual({ required: 3, environments: ['development', 'production'] });
      expect((await flags.plan([{ op: 'disable', ref: DEVELOPMENT }])).approval).toBeNull();
      expect((await flags.plan([{ op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }])).approval).toBeNull();
    });

    it('a set, an undo and an import can bypass too', async () => {
      const flags = await protect(await start());
      const set = await flags.apply([{ op: 'addStrategy', ref: PRODUCTION, input: ON }], BYPASS);
      await flags.history.undo({ changeSet: set.id ?? '' }, BYPASS);
      await flags.definitions.import({ version: 1, flags: [{ name: 'checkout', archived: true }] }, BYPASS);
      const { items } = await flags.history.list(CHECKOUT);
      expect(items.slice(0, 3).map(({ reason }) => reason)).toEqual(['INC-42', 'INC-42', 'INC-42']);
    });

    it('a policy that asks for less needs approval, one that asks for more does not', async () => {
      const flags = await protect(await start());
      await flags.approvalPolicy.set({ environments: { production: { required: 2 }, staging: { required: 1 } } });
      for (const environments of [{}, { production: { required: 1 } }, { production: { required: 2 } }]) {
        await expectRefusal(flags, 'approval_required', () => flags.approvalPolicy.set({ environments }));
      }
      await flags.approvalPolicy.set({ environments: {} }, BYPASS);
      await flags.archiveFlag(CHECKOUT);
    });

    it('a repeated id returns the first result of a change that would now need approval', async () => {
      const flags = await protect(await start());
      const context = { id: randomUUID(), ...BYPASS };
      await flags.addStrategy(PRODUCTION, ON, context);
      const { id } = context;
      const again = await flags.addStrategy(PRODUCTION, ON, { id });
      const { environments } = await flags.getFlag(CHECKOUT);
      expect(environments.find(({ name }) => name === 'production')?.strategies.at(-1)?.id).toBe(again.id);
    });
  });

  it('a node that does not know the policy yet refuses too, and one that does not know of its end does not', async () => {
    const node = await share();
    const options = { pollInterval: 0 };
    const [one, other] = [await node(options), await node(options)];
    await one.createFlag(DEFAULT, { name: 'checkout' });
    await one.addStrategy(PRODUCTION, ON);
    await other.refresh();
    await one.approvalPolicy.set(POLICY);
    await expectRefusal(other, 'approval_required', () => other.enable(PRODUCTION));
    await other.refresh();
    await one.approvalPolicy.set({ environments: {} }, BYPASS);
    await other.enable(PRODUCTION);
  });

  it('a child and its parent that two nodes change at once cannot slip past each other', async () => {
    const node = await share();
    const [one, other] = [await node(), await node()];
    const [parent, child] = [
      { ...PRODUCTION, flag: 'parent' },
      { ...PRODUCTION, flag: 'child' },
    ];
    await one.createFlag(DEFAULT, { name: 'parent' });
    await one.createFlag(DEFAULT, { name: 'child' });
    await one.addStrategy(child, ON);
    await one.addDependency(child, { flag: 'parent', enabled: false });
    await one.archiveFlag(child);
    await one.archiveFlag(parent);
    await one.reviveFlag(child);
    // The child waits for a parent that exists and is off. Each of these alone leaves it off; both switch it on.
    const race = () => Promise.allSettled([one.enable(child), other.reviveFlag(parent)]);
    const reset = async () => {
      await one.disable(child);
      if (!(await one.getFlag(parent)).archived) {
        await one.archiveFlag(child, BYPASS);
        await one.archiveFlag(parent, BYPASS);
        await one.reviveFlag(child, BYPASS);
      }
    };
    const outcomesOf = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status);
    expect(outcomesOf(await race())).toEqual(['fulfilled', 'fulfilled']);
    await one.refresh();
    expect(one.isEnabled('child', {}, { environment: 'production' })).toBe(true);
    await one.approvalPolicy.set(POLICY);
    for (let round = 0; round < ROUNDS; round++) {
      await reset();
      const results = await race();
      expect(outcomesOf(results).sort()).toEqual(['fulfilled', 'rejected']);
      const [refused] = results.filter((result) => result.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'approval_required' });
      await one.refresh();
      expect(one.isEnabled('child', {}, { environment: 'production' })).toBe(false);
    }
  });
});

describe.each([true, false])('without a policy, on a storage that notifies: %s', (notifies) => {
  it('a change of a flag reads no policy, and its commit expects that there is none', async () => {
    const storage = memoryStorage();
    const read: string[] = [];
    const checked: string[] = [];
    const flags = await openFlags({
      storage: {
        ...storage,
        ...(notifies && { watch: () => () => undefined }),
        get(key) {
          read.push(key.kind);
          return storage.get(key);
        },
        commit(commit) {
          checked.push(...(commit.checks ?? []).map(({ key }) => key.kind));
          return storage.commit(commit);
        },
      },
    });
    read.length = 0;
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, ON);
    await flags.enable(PRODUCTION);
    await flags.segments.create({ name: 'vip', constraints: [] });
    expect(read).not.toContain('settings');
    expect(checked.filter((kind) => kind === 'settings')).toHaveLength(4);
    checked.length = 0;
    await flags.tokens.create({ name: 'ci', kind: 'admin' });
    expect(checked).not.toContain('settings');
    await flags.close();
  });
});
