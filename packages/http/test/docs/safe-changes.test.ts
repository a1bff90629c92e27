import { inspect } from 'node:util';
import type { Flags } from '@flags/core';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

it('prints', async () => {
  const printed: string[] = [];
  const source = codeBlocks(read('docs/safe-changes.md'), 'js').join('\n');
  const console = { log: (...values: unknown[]) => printed.push(values.map((value) => inspect(value)).join(' ')) };
  const flags = (await runProgram(source, { result: 'flags', scope: { console } })) as Flags;
  const promised = [...source.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
  expect(printed).toEqual(promised);
  await flags.close();
});
