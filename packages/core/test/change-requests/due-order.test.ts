import { until } from '../../../../test/until.js';
import { type Flags, type FlagsOptions, memoryStorage, openFlags } from '../../src/index.js';
import { DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { SILENT } from '../replica/silent.js';
import { HOUR, MINUTE, SECOND, settableClock } from '../settable-clock.js';
import { ADA, addCheckout, approve, ENABLE, POLICY, stateOf } from './protected.js';

/** A host that answers when the test says so. */
function asking() {
  const asked: string[] = [];
  const answers = new Map<string, (answer: boolean) => void>();
  return {
    asked,
    answer: (name: string, answer = true) => answers.get(name)?.(answer),
    authorize: ({ name }: { readonly name: string }) => {
      asked.push(name);
      return new Promise<boolean>((resolve) => {
        if (name.startsWith('quick')) resolve(true);
        else answers.set(name, resolve);
      });
    },
  };
}

async function addOther(flags: Flags<string>, name = 'other') {
  await flags.createFlag(DEFAULT, { name });
  const place = { ...PRODUCTION, flag: name };
  await flags.addStrategy(place, { name: 'default' });
  return place;
}

describe('a host that does not answer `due.authorize`', () => {
  const running: Flags<string>[] = [];
  afterEach(() => Promise.all(running.splice(0).map((flags) => flags.close())));

  async function open(options: Omit<FlagsOptions, 'storage'>): Promise<Flags<string>> {
    const flags = await openFlags<string>({
      ...SILENT,
      onError: () => undefined,
      ...options,
      storage: memoryStorage(),
    });
    running.push(flags);
    await addCheckout(flags);
    return flags;
  }

  it('delays neither other requests nor changes of the same flag', async () => {
    const host = asking();
    const flags = await open({ due: { run: true, authorize: host.authorize } });
    const other = await addOther(flags);
    const past = new Date(Date.now() - SECOND).toISOString();
    const hanging = await flags.as('slow').changeRequests.create([ENABLE], { at: past });
    const began = performance.now();
    const quick = await flags.as('quick').changeRequests.create([{ op: 'enable', ref: other }], { at: past });
    await until(async () => (await stateOf(flags, { changeRequest: quick.id })) === 'applied');
    await flags.addStrategy(DEVELOPMENT, { name: 'default' });
    expect(performance.now() - began).toBeLessThan(5 * SECOND);
    expect(await stateOf(flags, { changeRequest: hanging.id })).toBe('approved');
    // The flag has changed meanwhile, so the host is asked about what would happen now.
    host.answer('slow');
    await until(() => host.asked.filter((name) => name === 'slow').length === 2);
    host.answer('slow');
    await until(async () => (await stateOf(flags, { changeRequest: hanging.id })) === 'applied');
  });

  it('lets a later request that touches the same document wait', async () => {
    const host = asking();
    const clock = settableClock();
    const flags = await open({ now: clock.now, due: { run: 'elsewhere', authorize: host.authorize } });
    const other = await addOther(flags);
    const make = (name: string, ref: typeof other, op: 'enable' | 'disable', at: number) =>
      flags.as(name).changeRequests.create([{ op, ref }], { at: clock.text(at) });
    const first = await make('slow', PRODUCTION, 'enable', 0);
    const second = await make('quick 2', PRODUCTION, 'disable', 1);
    const third = await make('quick 3', other, 'enable', 2);
    clock.advance(10);
    const due = flags.runDue();
    await until(async () => (await stateOf(flags, { changeRequest: third.id })) === 'applied');
    expect(host.asked).toEqual(['slow', 'quick 3']);
    host.answer('slow');
    // In the order of their ends.
    expect((await due).items.map((item) => 'id' in item && [item.id, item.state])).toEqual([
      [third.id, 'applied'],
      [first.id, 'applied'],
      [second.id, 'applied'],
    ]);
    const switched = (await flags.events.list({ limit: 20 })).items.filter(({ type }) =>
      type.startsWith('environment-'),
    );
    expect(switched.map(({ type, flag }) => [type, flag])).toEqual([
      ['environment-disabled', 'checkout'],
      ['environment-enabled', 'checkout'],
      ['environment-enabled', 'other'],
    ]);
  });

  it('is asked about who has set the time, and about the projects whose clients would see the change', async () => {
    const asked: unknown[] = [];
    const clock = settableClock();
    const flags = await open({
      now: clock.now,
      due: {
        run: 'elsewhere',
        authorize(person, { documents, segmentUses, projects }) {
          asked.push([person, documents.map(({ id }) => id), segmentUses, projects]);
          return true;
        },
      },
    });
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const { id: segment } = await flags.segments.create({ name: 'vip', constraints: [] });
    await flags.createFlag({ project: 'shop' }, { name: 'cart' });
    const cart = { project: 'shop', flag: 'cart', environment: 'production' };
    await flags.addStrategy(cart, { name: 'default', segments: [segment] });
    await flags.enable(cart);
    const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
    const change = { op: 'updateSegment', ref: { segment }, input: { name: 'vip', constraints } } as const;
    const { id } = await flags.as('eve').changeRequests.create([change]);
    await flags.as(ADA).changeRequests.apply({ changeRequest: id }, { at: clock.text(HOUR) });
    clock.advance(HOUR);
    expect((await flags.runDue()).items).toMatchObject([{ state: 'applied', author: { name: 'eve' }, appliedBy: ADA }]);
    expect(asked).toEqual([[ADA, [`${segment}`], [], ['shop']]]);
    // A set that changes nothing asks nobody.
    await flags.as('eve').changeRequests.create([{ op: 'enable', ref: cart }], { at: clock.text() });
    expect((await flags.runDue()).items).toMatchObject([{ state: 'applied', changeSet: null }]);
    expect(asked).toHaveLength(1);
  });
});

describe('a due request without its approvals', () => {
  it('is planned again when something has changed, not at each poll', async () => {
    const clock = settableClock();
    const inner = memoryStorage();
    let reads = 0;
    const get: typeof inner.get = (key) => {
      if (key.kind === 'flag') reads += 1;
      return inner.get(key);
    };
    const flags = await openFlags<string>({ ...SILENT, storage: { ...inner, get }, now: clock.now });
    await addCheckout(flags);
    await flags.approvalPolicy.set(POLICY);
    const { id } = await flags.as(ADA).changeRequests.create([ENABLE], { at: clock.text() });
    await flags.runDue();
    reads = 0;
    clock.advance(MINUTE);
    for (let poll = 0; poll < 3; poll++) expect(await flags.runDue()).toEqual({ items: [] });
    expect(reads).toBe(0);
    await approve(flags, { changeRequest: id });
    expect((await flags.runDue()).items).toMatchObject([{ id, state: 'applied' }]);
    await flags.close();
  });
});
