import { inspect } from 'node:util';
import { codeBlocks, codeIn, membersOf, read, tableAfter } from './documents.js';
import { runProgram } from './run-module.js';

const readme = read('packages/openfeature/README.md');

describe('the README of @flags/openfeature', () => {
  it('has code that runs unchanged, and prints the documented output', async () => {
    const printed: string[] = [];
    const console = { log: (value: unknown) => printed.push(inspect(value)) };
    const source = codeBlocks(readme, 'js').join('\n');
    await runProgram(source, { result: 'flags', scope: { console } });
    const promised = [...source.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
    expect(promised.length).toBeGreaterThan(0);
    expect(printed).toEqual(promised);
  });

  it('has every option of createFlagsProvider', () => {
    const documented = tableAfter(readme, '### `createFlagsProvider(flags, options)`').map(([cell]) => codeIn(cell));
    const options = membersOf(read('packages/openfeature/src/options.ts'), 'export interface FlagsProviderOptions');
    expect(documented).toEqual(options);
  });
});
