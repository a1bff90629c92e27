import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { OpenFeature } from '@openfeature/server-sdk';
import { codeBlocks, read } from '../../http/test/docs/documents.js';
import { runProgram } from '../../http/test/docs/run-module.js';
import { switchOn } from './host.js';

/** Runs the code of a guide on a storage in memory, with some exports of the engine replaced. */
async function run<Result>(path: string, result: string, engine: object = {}) {
  const printed: string[] = [];
  const packages: Readonly<Record<string, () => object>> = {
    '@flags/core': () => ({ ...require('@flags/core'), ...engine }),
    '@flags/core/sqlite': () => ({ sqliteStorage: memoryStorage }),
  };
  const scope = {
    console: { log: (value: unknown) => printed.push(String(value)) },
    require: (name: string) => packages[name]?.() ?? require(name),
  };
  const code = codeBlocks(read(path), 'js').join('\n');
  return { program: (await runProgram(code, { result, scope })) as Result, printed };
}

const promised = (path: string) => [...read(path).matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);

afterEach(() => OpenFeature.close());

describe('docs/beside-your-vendor.md', () => {
  const PATH = 'docs/beside-your-vendor.md';

  it('asks the vendor for flags that do not exist, and names differences', async () => {
    const { program, printed } = await run<{ readonly flags: Flags }>(PATH, '{ flags }');
    const mismatch = 'flags: false, in-memory: true';
    expect(read(PATH)).toContain(`\`${mismatch}\``);
    expect(printed).toEqual([...promised(PATH).slice(0, 3), mismatch, promised(PATH)[3]]);
    await program.flags.close();
  });
});

describe('docs/vercel-flags-sdk.md', () => {
  const PATH = 'docs/vercel-flags-sdk.md';
  type Handler = (request: Request) => Promise<Response>;

  it('evaluates for the user of the request, in the engine', async () => {
    const opened: Flags[] = [];
    const { program: handler } = await run<Handler>(PATH, 'GET', {
      openFlags: async () => {
        const flags = await openFlags({ storage: memoryStorage() });
        opened.push(flags);
        return flags;
      },
    });
    const answerTo = async (user: string) => {
      const response = await handler(new Request('https://example.org', { headers: { cookie: `user=${user}` } }));
      return response.json();
    };
    expect(await answerTo('ada')).toEqual({ checkout: false, banner: 'none' });
    const [flags] = opened;
    if (!flags) throw new Error('The guide opens no engine.');
    const forAda = { name: 'userWithId', parameters: { userIds: 'ada' } } as const;
    await switchOn(flags, { name: 'checkout', strategy: forAda });
    const variants = [{ name: 'sale', payload: { type: 'string', value: 'Sale!' } }] as const;
    await switchOn(flags, { name: 'banner', strategy: forAda, variants });
    expect(await answerTo('ada')).toEqual({ checkout: true, banner: 'Sale!' });
    expect(await answerTo('bob')).toEqual({ checkout: false, banner: 'none' });
    expect(opened).toHaveLength(1);
    await flags.close();
  });
});
