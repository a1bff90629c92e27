import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { endAll, serve } from '../../../follower/test/servers.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

interface Worker {
  fetch(request: Request, settings: object): Promise<Response>;
}

describe('the code of docs/evaluating-elsewhere.md', () => {
  const [worker = '', sync = '', schema = ''] = codeBlocks(read('docs/evaluating-elsewhere.md'), 'ts');
  let flags: Flags;
  let settings: { readonly FLAGS_URL: string; readonly FLAGS_TOKEN: string };

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, {
      name: 'default',
      constraints: [{ contextName: 'userId', operator: 'REGEX', value: '^7' }],
    });
    await flags.enable(PRODUCTION);
    const { secret } = await flags.tokens.create({ name: 'worker', kind: 'client', environment: 'production' });
    settings = { FLAGS_URL: (await serve(flags)).url, FLAGS_TOKEN: secret };
  });
  afterEach(async () => {
    await endAll();
    await flags.close();
  });

  it('answers the requests of a worker', async () => {
    const { default: program } = (await runProgram(worker, { result: 'exports', scope: {} })) as { default: Worker };
    const answerTo = async (user: string) => {
      const response = await program.fetch(new Request(`https://example.org/?user=${user}`), settings);
      return response.text();
    };
    expect([await answerTo('7'), await answerTo('8')]).toEqual(['new', 'old']);
  });

  it('evaluates a recorded document at once', async () => {
    const headers = { authorization: settings.FLAGS_TOKEN };
    const document = await (await fetch(`${settings.FLAGS_URL}/api/client/features`, { headers })).text();
    const directory = mkdtempSync(join(tmpdir(), 'flags-'));
    try {
      const file = join(directory, 'features.json');
      writeFileSync(file, document);
      const result = "expected.isEnabled('checkout', { userId: '7' })";
      expect(await runProgram(sync.replace("'features.json'", JSON.stringify(file)), { result, scope: {} })).toBe(true);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('declares flags', async () => {
    expect(await runProgram(schema, { result: 'schema.flags', scope: {} })).toEqual({ checkout: { type: 'release' } });
  });
});
