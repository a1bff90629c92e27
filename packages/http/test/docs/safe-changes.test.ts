import { inspect } from 'node:util';
import type { Flags, StrategyRef } from '@flags/core';
import { until } from '../../../../test/until.js';
import { codeBlocks, read } from './documents.js';
import { runProgram } from './run-module.js';

const BLOCKS = codeBlocks(read('docs/safe-changes.md'), 'js');
const PROGRAM = BLOCKS.join('\n');
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
  const log = (...values: unknown[]) => printed.push(values.map((value) => inspect(value)).join(' '));
  const console = { log, info: () => undefined };
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

  it('takes the steps when they are due', async () => {
    // The program up to the start of the rollout.
    const launch = BLOCKS.slice(0, BLOCKS.findIndex((block) => block.includes('rollouts.start')) + 1).join('\n');
    const scope = { console: { log: () => undefined, info: () => undefined } };
    const flags = (await runProgram(launch.replace('86_400_000', '1'), { result: 'flags', scope })) as Flags;
    opened.push(flags);
    await until(async () => (await flags.rollouts.list()).items.length === 0);
    expect(await percentageIn(flags)).toBe('100');
  });

  it('starts a rollout and switches a flag on when due and approved, which one undo takes back', async () => {
    const { flags, grace, sale } = await run(PROGRAM);
    const request = { changeRequest: sale.id };
    await flags.changeRequests.apply(request, { at: new Date().toISOString() });
    await flags.runDue();
    expect(await flags.changeRequests.get(request)).toMatchObject({ state: 'open', approvals: [] });
    const { effect } = await grace.changeRequests.get(request);
    await grace.changeRequests.approve(request, { effect: `${effect}` });
    await until(async () => (await flags.changeRequests.get(request)).state === 'applied');
    expect(flags.isEnabled('banner')).toBe(true);
    expect(await percentageIn(flags)).toBe('5');
    const { changeSet } = await flags.changeRequests.get(request);
    const { reason, differences } = await flags.history.get({ changeSet: `${changeSet}` });
    expect([reason, differences.map(({ id }) => id)]).toEqual(['Sale', ['checkout', 'banner', sale.id]]);
    const { items } = await flags.events.list({ type: 'rollout-started', limit: 1 });
    expect(items).toMatchObject([{ changeSet, origin: `change-request/${sale.id}` }]);
    await flags.history.undo({ changeSet: `${changeSet}` });
    expect(flags.isEnabled('banner')).toBe(false);
    expect(await percentageIn(flags)).toBe('0');
    expect((await flags.rollouts.list()).items).toEqual([]);
  });

  it('asks the host whether a person may still make a change, and the metrics before a step', async () => {
    const isStillEditor = jest.fn((name: unknown) => name !== 'Ada');
    const errorRate = jest.fn(() => Promise.resolve(0.1));
    const { service, strategy } = await run(PROGRAM, { isStillEditor, errorRate });
    const { id } = await prepareCheckout(service);
    const change = { op: 'archiveFlag', ref: { project: 'default', flag: 'checkout' } } as const;
    const due = await service.changeRequests.create([change], { at: new Date().toISOString(), actor: 'Ada' });
    await until(async () => (await service.changeRequests.get({ changeRequest: due.id })).state === 'failed');
    expect(isStillEditor).toHaveBeenCalledWith('Ada', [expect.objectContaining({ id: 'checkout' })]);
    const steps = [{ percentage: 5, hold: 0 }, { percentage: 100 }];
    await service.rollouts.start({ ...strategy, strategy: id }, { steps, guarded: true });
    await until(async () => (await service.rollouts.list()).items.length === 0);
    expect(await percentageIn(service)).toBe('0');
    const signal = expect.any(AbortSignal);
    expect(errorRate).toHaveBeenCalledWith('checkout', expect.any(String), signal);
  });
});

async function prepareCheckout(flags: Flags): Promise<{ readonly id: string }> {
  const production = { project: 'default', flag: 'checkout', environment: 'production' };
  await flags.createFlag({ project: 'default' }, { name: 'checkout' });
  const strategy = await flags.addStrategy(production, { name: 'flexibleRollout', parameters: { rollout: '0' } });
  await flags.enable(production);
  return strategy;
}

async function percentageIn(flags: Flags): Promise<unknown> {
  const { environments } = await flags.getFlag({ project: 'default', flag: 'checkout' });
  return environments.find(({ name }) => name === 'production')?.strategies[0]?.parameters?.rollout;
}
