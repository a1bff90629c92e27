import { coalescePerTick } from '../../http/src/json-chunks.js';

describe('a turn', () => {
  it('ends after all that has come in already, at once for all who wait for it', async () => {
    const turn = coalescePerTick();
    const seen: string[] = [];
    const waiting = [turn().then(() => seen.push('one')), turn().then(() => seen.push('two'))];
    await new Promise((resolve) => process.nextTick(resolve));
    seen.push('came in');
    await Promise.all(waiting);
    expect(seen).toEqual(['came in', 'one', 'two']);
  });

  it('is another one for who asks later', async () => {
    const turn = coalescePerTick();
    const first = turn();
    expect(turn()).toBe(first);
    await first;
    expect(turn()).not.toBe(first);
  });
});
