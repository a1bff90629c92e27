import { createFlags, memoryStorage } from '../../src/index.js';
import type { Storage } from '../../src/storage/port.js';
import { temporaryDirectory } from '../storage/temporary-directory.js';
import { runToItsEnd } from './child-run.js';

const FAILURE = new Error('The disk is full.');

describe('the timers of an instance', () => {
  const directory = temporaryDirectory();

  afterAll(() => directory.remove());
  afterEach(() => jest.useRealTimers());

  it('do not keep the process from ending by itself when it is left open', async () => {
    expect(await runToItsEnd('left-open', directory.path)).toBe('true current');
  });

  it('end when it is closed', async () => {
    jest.useFakeTimers();
    const flags = await createFlags({ storage: memoryStorage() });
    expect(jest.getTimerCount()).toBe(2);
    await flags.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('end when it cannot be opened after all', async () => {
    jest.useFakeTimers();
    const full: Storage = {
      ...memoryStorage(),
      commit: () => {
        throw FAILURE;
      },
    };
    await expect(createFlags({ storage: full })).rejects.toBe(FAILURE);
    expect(jest.getTimerCount()).toBe(0);
  });
});
