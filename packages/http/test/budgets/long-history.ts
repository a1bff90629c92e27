import { type Flags, type FlagsStorage, openFlags } from '@flags/core';
import type { NewEvent } from '@flags/core/storage';
import { SECRETS } from './definitions.js';

const DEFAULT = { project: 'default' };
/** The largest number of changes in a set. */
const MOST = 500;
/** The ids of the set that changes the most flags, and of the last set of the largest flag. */
export const WIDE_SET = '00000000-0000-7000-8000-000000000500';
export const LARGE_SET = '00000000-0000-7000-8000-000000000001';

/** The log of a busy store after some years. */
export interface HistorySize {
  /** Events of the flag `busy`, in sets of a thousand without a checkpoint: more than an operation writes. */
  readonly busy: number;
  /** Events of the whole log, at least. */
  readonly events: number;
  /** Events that carry about 1 MB each. */
  readonly large: number;
}

const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(6, '0')}${'u'.repeat(length - 6)}`);

/** Creates the flags, and appends events to the log without deciding them. */
export async function fillHistory(storage: FlagsStorage, size: HistorySize): Promise<void> {
  const flags = await openFlags({ storage: keptOpen(storage), pollInterval: 0, usage: { interval: 0 } });
  await flags.tokens.create({ name: 'admin of the table', kind: 'admin', secret: SECRETS.admin });
  await createLargest(flags);
  for (const name of ['busy', 'noise']) {
    await flags.createFlag(DEFAULT, { name });
    await flags.addStrategy({ ...DEFAULT, flag: name, environment: 'production' }, { name: 'default' });
  }
  await changeManyFlags(flags);
  await appendSwitches(storage, 'busy', size.busy);
  await appendSwitches(storage, 'noise', Math.max(0, size.events - size.busy));
  await appendLarge(flags, size.large);
  await flags.close();
}

function keptOpen(storage: FlagsStorage): FlagsStorage {
  return Object.assign(Object.create(storage) as FlagsStorage, { close: () => undefined });
}

/** A flag of nearly 1 MiB, of 50,000 values and long variants, which every event of its description repeats. */
async function createLargest(flags: Flags): Promise<void> {
  const place = { ...DEFAULT, flag: 'largest', environment: 'production' };
  await flags.createFlag(DEFAULT, { name: place.flag });
  const constraints = [{ contextName: 'userId', operator: 'IN', values: texts(50_000, 6) } as const];
  await flags.addStrategy(place, { name: 'default', constraints });
  await flags.enable(place);
  const payload = { type: 'string', value: 'd'.repeat(250_000) } as const;
  await flags.setVariants(place, [
    { name: 'one', payload },
    { name: 'other', payload },
  ]);
  for (let number = 0; number < 40; number++) await flags.updateFlag(place, { description: `${number}` });
  await flags.apply([{ op: 'updateFlag', ref: place, input: { stale: true } }], { id: LARGE_SET });
}

async function changeManyFlags(flags: Flags): Promise<void> {
  const names = Array.from({ length: MOST }, (_, number) => `flag-${number}`);
  await flags.apply(names.map((name) => ({ op: 'createFlag', ref: DEFAULT, input: { name } })));
  const changes = names.map((flag) => {
    return { op: 'updateFlag', ref: { ...DEFAULT, flag }, input: { description: 'd'.repeat(4000) } } as const;
  });
  await flags.apply(changes, { id: WIDE_SET });
}

const EVENTS_PER_SET = 1000;

/** Appends events that switch a flag on and off, many to each revision. */
async function appendSwitches(storage: FlagsStorage, flag: string, count: number): Promise<void> {
  const key = { kind: 'flag', id: flag };
  for (let first = 0; first < count; first += EVENTS_PER_SET) {
    const stored = await storage.get(key);
    if (!stored) throw new Error(`There is no flag ${flag}.`);
    const events = Array.from({ length: EVENTS_PER_SET }, (_, at): NewEvent => {
      const enabled = at % 2 === 0;
      return {
        type: enabled ? 'environment-enabled' : 'environment-disabled',
        at: new Date().toISOString(),
        actor: 'ada',
        changeSet: `${flag}-${first}`,
        reason: null,
        subject: key,
        project: DEFAULT.project,
        environment: 'production',
        data: { enabled },
        before: { enabled: !enabled },
      };
    });
    await storage.commit({ writes: [{ key, expected: stored.revision, touch: true }], events });
  }
}

async function appendLarge(flags: Flags, count: number): Promise<void> {
  const place = { ...DEFAULT, flag: 'eventful', environment: 'production' };
  await flags.createFlag(DEFAULT, { name: place.flag });
  const { id: strategy } = await flags.addStrategy(place, { name: 'default' });
  const values = texts(27_000, 16);
  for (let number = 0; number < count; number++) {
    values[0] = `change-${number}`;
    const constraints = [{ contextName: 'userId', operator: 'IN', values } as const];
    await flags.updateStrategy({ ...place, strategy }, { name: 'default', constraints });
  }
}
