import { temporaryDirectory } from '../storage/temporary-directory.js';
import { runToItsEnd } from './child-run.js';

describe('the timers of an instance that is left open', () => {
  const directory = temporaryDirectory();

  afterAll(() => directory.remove());

  it('do not keep the process from ending by itself', async () => {
    expect(await runToItsEnd('left-open', directory.path)).toBe('true current');
  });
});
