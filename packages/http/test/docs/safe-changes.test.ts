import { inspect } from 'node:util';
import { type Change, createFlags, type Flags, memoryStorage, type StrategyRef } from '@flags/core';
import { until } from '../../../../test/until.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

const BLOCKS = codeBlocks(read('docs/safe-changes.md'), 'js');
const PROGRAM = BLOCKS.join('\n');
const BANNER: Change[] = [
  { op: 'archiveFlag', ref: { project: 'default', flag: 'banner' } },
  { op: 'updateFlag', ref: { project: 'default', flag: 'banner' }, input: { stale: true } },
];

interface Host {
  readonly isStillEditor: (...given: unknown[]) => boolean;
  readonly errorRate: (...given: unknown[]) => Promise<number>;
}

interface Program {
  readonly flags: Flags;
  readonly service: Flags;
  readonly strategy: StrategyRef;
  readonly grace: Flags;
  readonly sale: { readonly id: string };
  readonly printed: readonly string[];
}

const opened: Flags[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((flags) => flags.close()));
});

/** Runs the program of the guide. */
async function run(source: string, host: Partial<Host> = {}): Promise<Program> {
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.map((value) => inspect(value)).join(' ')) };
  const result = '{ flags, service, strategy, grace, sale }';
  const program = (await runProgram(source, { result, scope: { console, ...host } })) as Omit<Program, 'printed'>;
  opened.push(program.flags, program.service);
  return { ...program, printed };
}

describe('the code of docs/safe-changes.md', () => {
  it('prints the values in its comments', async () => {
    const { printed } = await run(PROGRAM);
    const promised = [...PROGRAM.matchAll(/console\.log\(.*\/\/ → (.*)$/gm)].map(([, value]) => value);
    expect(promised.length).toBeGreaterThan(3);
    expect(printed).toEqual(promised);
  });
});
