import { join } from 'node:path';
import { type Refusal, recorded, refusalOf } from '../../../core/test/refusals/table.js';
import { followFlags } from '../../src/index.js';
import { readOptions } from '../../src/options.js';

const VALID = { url: 'http://127.0.0.1:9', token: 'x', startTimeout: 0 };

const text = 'a'.repeat(256);
const OPTIONS: readonly object[] = [
  { url: '' },
  { url: 7 },
  { url: 'flags' },
  { url: undefined, token: undefined },
  { token: '' },
  { token: null },
  { token: 'a b' },
  { token: 'x'.repeat(1001) },
  { cache: '' },
  { cache: {} },
  { strategies: {} },
  { strategies: [7] },
  { strategies: [{}] },
  { strategies: [{ name: '' }, { name: text }, { name: 7, isEnabled: 7 }] },
  { strategies: [{ name: 'a' }] },
  { usage: [] },
  { usage: 7 },
  { usage: { interval: -1, application: '..', instance: '' } },
  { usage: { interval: 2 ** 31, application: '', instance: text } },
  { usage: { color: 1 } },
  { pollInterval: 99 },
  { pollInterval: '100' },
  { startTimeout: -1 },
  { startTimeout: 2 ** 31 },
  { offlineTokens: -1 },
  { offlineTokens: 1e300 },
  { maxBytes: 0 },
  { maxBytes: 1.5 },
  { maxBytes: 2 ** 40 },
  { allowInsecure: 'yes' },
  { onError: 7, onProblem: null },
  { color: 1 },
  { url: 1, token: 1, cache: 1, pollInterval: 1, startTimeout: 'a', offlineTokens: {}, maxBytes: [], allowInsecure: 1 },
];

it('refuses options with the messages and the paths that were recorded', async () => {
  const options: Record<string, Refusal> = {};
  for (const given of OPTIONS) {
    const refusal = await refusalOf(() => readOptions({ ...VALID, ...given } as never));
    options[JSON.stringify(given).slice(0, 80)] = refusal ?? 'accepted';
  }
  for (const given of [undefined, null, 7, 'url', []]) {
    options[`${JSON.stringify(given)}`] = (await refusalOf(() => followFlags(given as never))) ?? 'accepted';
  }
  expect({ options }).toEqual(recorded(join(__dirname, 'refusals.json'), { options }));
});
