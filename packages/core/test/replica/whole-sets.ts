import { setImmediate } from 'node:timers/promises';
import { extent } from '../../../../test/extent.js';
import { until } from '../../../../test/until.js';
import { openFlags } from '../../src/index.js';
import type { FlagsStorage } from '../../src/storage/port.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

const NAMES = ['left', 'right', 'top'];
const ROUNDS = extent({ short: 60, full: 600 });

/** Commits every round one change set, which switches all flags on or off together, straight on the storage. */
async function switchTogether(storage: FlagsStorage, round: number): Promise<void> {
  const changeSet = `set-${round}`;
  const enabled = round % 2 === 0;
  const keys = NAMES.map((id) => ({ kind: 'flag', id }));
  const found = await Promise.all(keys.map((key) => storage.get(key)));
  const writes = found.map((stored, index) => {
    const body = stored?.body as { environments: { name: string; enabled: boolean }[] };
    const environments = body.environments.map((one) => ({ ...one, enabled }));
    const key = keys[index] ?? { kind: '', id: '' };
    return { key, expected: stored?.revision ?? 0, parent: 'default', body: { ...body, environments }, summary: null };
  });
  const events = keys.map((subject) => ({
    type: enabled ? 'environment-enabled' : 'environment-disabled',
    at: new Date().toISOString(),
    actor: 'ada',
    changeSet,
    subject,
    project: 'default',
    environment: 'production',
    data: { enabled },
    before: { enabled: !enabled },
  }));
  const result = await storage.commit({ writes, events });
  if (!result.ok) throw new Error(`Lost a race for ${result.conflict.id}.`);
}

/** Documents that are read at once arrive in different turns of the event loop, as from a remote database. */
function withSlowReads(storage: FlagsStorage): FlagsStorage {
  let reads = 0;
  const get: FlagsStorage['get'] = async (key) => {
    for (let turn = reads++ % 4; turn > 0; turn--) await setImmediate();
    return storage.get(key);
  };
  return { ...storage, get };
}

/**
 * Lets one node change several flags per change set, while another one evaluates. The other node polls without
 * a pause, and changes one of the flags itself now and then.
 */
export async function expectWholeSets(open: () => FlagsStorage | Promise<FlagsStorage>): Promise<void> {
  const storage = await open();
  const writer = await openFlags({ ...SILENT, storage });
  for (const flag of NAMES) await createSwitchedOn(writer, { flag, strategies: [onlyFor('ada')] });
  const reader = await openFlags({ ...SILENT, storage: withSlowReads(await open()) });
  const answers = () => NAMES.map((flag) => reader.isEnabled(flag, { userId: 'ada' }));
  const seen: (readonly boolean[])[] = [];
  const stopListening = reader.onConfigurationChange(() => seen.push(answers()));
  let isOver = false;

  async function evaluate(): Promise<void> {
    while (!isOver) {
      void reader.refresh();
      seen.push(answers());
      await setImmediate();
    }
  }

  const evaluating = evaluate();
  for (let round = 1; round <= ROUNDS; round++) {
    await switchTogether(storage, round);
    if (round % 3 === 0) await setImmediate();
    // Decided on the stored document, which the reader may not have seen yet.
    if (round % 7 === 0) await reader.updateFlag({ project: 'default', flag: 'right' }, { description: `${round}` });
    seen.push(answers());
  }
  await until(async () => (await reader.refresh()).state === 'current');
  isOver = true;
  await evaluating;
  stopListening();
  expect(answers()).toEqual(NAMES.map(() => ROUNDS % 2 === 0));
  expect(seen.filter((one) => new Set(one).size > 1)).toEqual([]);
  expect(new Set(seen.map(([first]) => first)).size).toBe(2);
  await reader.close();
  await writer.close();
}
