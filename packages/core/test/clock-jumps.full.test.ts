import { type Flags, openFlags } from '../src/index.js';
import { memoryUsage } from '../src/storage/memory/usage.js';
import type { FlagsStorage } from '../src/storage/port.js';
import { usageOf } from '../src/storage/usage/port.js';
import { expectInvariants } from './invariants/invariants.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from './references.js';
import { DAY, HOUR, MINUTE, SECOND, type SettableClock, settableClock } from './settable-clock.js';
import { type OpenStorage, PROPERTY_STORAGES } from './storage-kinds.js';
import { observedPruning } from './usage/observed-pruning.js';

const YEAR = 365 * DAY;
const JUMPS = [HOUR, -2 * HOUR, 10 * YEAR, -20 * YEAR, 10 * YEAR, MINUTE];

describe.each(PROPERTY_STORAGES)('on $name, a clock that jumps', ({ open }) => {
  let opened: OpenStorage;
  let storage: FlagsStorage;
  let clock: SettableClock;
  let flags: Flags;
  let pruning: ReturnType<typeof observedPruning>;

  beforeEach(async () => {
    opened = await open();
    storage = opened.storage;
    clock = settableClock();
    pruning = observedPruning(usageOf(storage) ?? memoryUsage());
    flags = await start();
  });
  afterEach(async () => {
    await flags.close();
    await opened.dispose();
  });

  function start(): Promise<Flags> {
    const options = { usage: { interval: 0 }, now: clock.now, pollInterval: 0 };
    return openFlags({ storage: { ...storage, usage: pruning.usage }, ...options });
  }

  async function report(flag = 'checkout'): Promise<void> {
    const counted = { start: clock.text(), stop: clock.text(), counts: { [flag]: { yes: 1, no: 0 } } };
    await flags.reportMetrics({ application: 'shop', ...counted });
    await pruning.ended();
  }

  it('does not change documents, their order, and the feed', async () => {
    const heard: string[] = [];
    flags.subscribe(({ data }) => void heard.push((data as { name: string }).name));
    const names = JUMPS.map((_, index) => `flag-${index}`);
    for (const [index, jump] of JUMPS.entries()) {
      clock.advance(jump);
      await flags.createFlag(DEFAULT, { name: names[index] ?? '' });
    }
    const { items: events } = await flags.events.list({ type: 'flag-created' });
    expect(events.map(({ flag }) => flag)).toEqual(names.toReversed());
    while (heard.length < names.length) await new Promise(setImmediate);
    expect(heard).toEqual(names);
    await expectInvariants(storage);
  });

  it('shows changes of other processes, whatever their clocks say', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    clock.advance(-YEAR);
    const other = await start();
    await other.enable(PRODUCTION);
    clock.advance(2 * YEAR);
    expect(await flags.refresh()).toMatchObject({ state: 'current', checkedAt: clock.text() });
    expect(flags.isEnabled('checkout')).toBe(true);
    clock.advance(-2 * YEAR);
    await other.disable(PRODUCTION);
    expect(await flags.refresh()).toMatchObject({ state: 'current', checkedAt: clock.text() });
    expect(flags.isEnabled('checkout')).toBe(false);
  });

  it('makes tokens expire by the current clock, and not permanently', async () => {
    await flags.tokens.create({
      name: 'short',
      kind: 'admin',
      secret: 'a-secret-of-at-least-32-printable-characters',
      expiresAt: clock.text(HOUR),
    });
    clock.advance(YEAR);
    expect(await flags.verifyToken('a-secret-of-at-least-32-printable-characters')).toBeUndefined();
    clock.advance(-2 * YEAR);
    expect(await flags.verifyToken('a-secret-of-at-least-32-printable-characters')).toMatchObject({ name: 'short' });
  });

  it('keeps the health of projects between 0 and 100', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    const healths: number[] = [];
    for (const jump of [-YEAR, 2 * YEAR, -YEAR]) {
      clock.advance(jump);
      healths.push((await flags.getProject(DEFAULT)).health);
    }
    expect(healths).toEqual([100, 0, 100]);
  });

  it('does not keep future counts in the last hour', async () => {
    for (const name of ['checkout', 'other']) await flags.createFlag(DEFAULT, { name });
    await report();
    clock.advance(YEAR);
    await report();
    await report('other');
    clock.advance(-YEAR);
    await report();
    const { lastHour, lastMinute } = await flags.usage.count();
    expect([...lastHour]).toEqual([['checkout', { yes: 1, no: 0 }]]);
    expect([...lastMinute]).toEqual([['checkout', { yes: 1, no: 0 }]]);
  });

  it('counts reports of a process whose clock is slightly ahead', async () => {
    clock.advance(30 * SECOND);
    await report();
    clock.advance(-30 * SECOND);
    expect((await flags.usage.count()).lastMinute.get('checkout')).toEqual({ yes: 1, no: 0 });
  });

  it('does not postpone the pruning of usage when it moves back', async () => {
    clock.advance(10 * YEAR);
    await report();
    clock.advance(-10 * YEAR);
    await report();
    expect(pruning.pruned).toHaveLength(2);
    for (let hour = 0; hour < 3; hour++) {
      clock.advance(HOUR);
      await report();
    }
    expect(pruning.pruned).toHaveLength(5);
  });

  it('permits a flag to be seen again after it was seen in the future', async () => {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await report();
    clock.advance(-YEAR);
    await report();
    clock.advance(YEAR + HOUR);
    await report();
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ lastSeenAt: clock.text() });
  });
});
