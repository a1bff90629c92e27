import { openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { parseTime } from '../src/times.js';
import { flagsCommand, temporaryFolder } from './command-line.js';

const DAY = 86_400_000;
const path = temporaryFolder();

/** A store whose flags were changed by two people, days ago. */
async function withHistory() {
  const store = path('flags.db');
  let time = Date.now();
  const flags = await openFlags({ storage: sqliteStorage(store), now: () => new Date(time), usage: { interval: 0 } });
  const ref = { project: 'default', flag: 'checkout', environment: 'production' };
  const strategy = { name: 'flexibleRollout', parameters: { rollout: '5' } } as const;
  const at = async <Result>(daysAgo: number, work: () => Promise<Result>): Promise<Result> => {
    time = Date.now() - daysAgo * DAY;
    return work();
  };
  await at(40, () => flags.as('ada').createFlag(ref, { name: 'checkout' }));
  const { id } = await at(30, () => flags.as('ada').addStrategy(ref, strategy));
  await at(20, () => flags.as('grace').enable(ref));
  await at(10, () =>
    flags.as('ada').updateStrategy({ ...ref, strategy: id }, { ...strategy, parameters: { rollout: '25' } }),
  );
  await at(1, () => flags.as('ada').createFlag(ref, { name: 'banner' }));
  const seen = async (flag: string, daysAgo: number) => {
    const stop = new Date(Date.now() - daysAgo * DAY).toISOString();
    await flags.reportMetrics({ application: 'web', start: stop, stop, counts: { [flag]: { yes: 1, no: 0 } } });
  };
  return { store, flags, at, seen };
}

async function withStore() {
  const { store, flags } = await withHistory();
  await flags.close();
  return (...args: readonly string[]) => flagsCommand(args, { env: { FLAGS_STORE: store, FLAGS_ACTOR: 'grace' } });
}

describe('history', () => {
  it('says who gets the flag now, and percentages instead of parameters', async () => {
    const flags = await withStore();
    const { out } = await flags('history', 'checkout');
    expect(out).toMatch(/^checkout now: off in development; 25 % in production\n/);
    expect(out).toContain('production · Gradual rollout 5 % → 25 %\n');
    await flags('off', 'checkout', '--yes');
    expect((await flags('history', 'checkout')).out).toMatch(
      /^checkout now: off in development; off in production, 25 % once it is on\n/,
    );
    await flags('archive', 'checkout', '--yes');
    expect((await flags('history', 'checkout')).out).toMatch(/^checkout now: archived\n/);
  });

  it.each<[args: readonly string[], expected: readonly (readonly [actor: string, daysAgo: number])[]]>([
    [
      ['--since', '15d'],
      [
        ['ada', 1],
        ['ada', 10],
      ],
    ],
    [
      ['--until', '15d'],
      [
        ['grace', 20],
        ['ada', 30],
        ['ada', 40],
      ],
    ],
    [
      ['--since', '35d', '--until', '15d'],
      [
        ['grace', 20],
        ['ada', 30],
      ],
    ],
    [['--actor', 'grace'], [['grace', 20]]],
    [
      ['--actor', 'ada', '--since', '35d', '--until', '5d'],
      [
        ['ada', 10],
        ['ada', 30],
      ],
    ],
    [
      ['--actor', 'ada', '--limit', '2'],
      [
        ['ada', 1],
        ['ada', 10],
      ],
    ],
    [
      ['--since', new Date(Date.now() - 15 * DAY).toISOString()],
      [
        ['ada', 1],
        ['ada', 10],
      ],
    ],
    [['--actor', 'nobody'], []],
  ])('shows the change sets of %j', async (args, expected) => {
    const flags = await withStore();
    const changes: readonly { readonly actor: string; readonly at: string }[] = JSON.parse(
      (await flags('history', ...args, '--json')).out,
    );
    // The first one is that of the project.
    const shown = changes
      .filter(({ actor }) => actor !== 'system')
      .map(({ actor, at }) => [actor, Math.round((Date.now() - Date.parse(at)) / DAY)]);
    expect(shown).toEqual(expected);
    const isCut = args.includes('--limit');
    expect((await flags('history', ...args)).out.includes('There are older changes')).toBe(isCut);
  });

  it('refuses times that mean another moment elsewhere', async () => {
    const flags = await withStore();
    for (const args of [
      ['--since', 'yesterday'],
      ['--since', '2026-03-01T09:00'],
      ['--until', '2026-13-01'],
      ['--since', '1d', '--until', '2d'],
    ]) {
      expect(await flags('history', ...args)).toMatchObject({
        code: 64,
        err: expect.stringMatching(/^--since|^--until/),
      });
    }
    expect(parseTime('--since', '2026-03-01')).toBe(Date.UTC(2026, 2, 1));
    expect(parseTime('--since', '2026-03-01T09:00:00+02:00')).toBe(Date.UTC(2026, 2, 1, 7));
  });
});

it('lists the flags that no client has used, the longest unused first', async () => {
  const { store, flags, at, seen } = await withHistory();
  const ref = { project: 'default' };
  for (const [name, daysAgo] of [
    ['recent', 2],
    ['stale', 35],
    ['never', 90],
  ] as const) {
    await at(100, () => flags.createFlag(ref, { name }));
    if (name !== 'never') await at(0, () => seen(name, daysAgo));
  }
  await flags.close();
  const unused = async (days: string, ...args: readonly string[]) => {
    const { out } = await flagsCommand(['list', '--unused', days, '--json', ...args, '--store', store]);
    return (JSON.parse(out) as readonly { readonly name: string }[]).map(({ name }) => name);
  };
  // A flag that nobody has used yet counts from its creation.
  expect(await unused('30')).toEqual(['checkout', 'never', 'stale']);
  expect(await unused('38')).toEqual(['checkout', 'never']);
  expect(await unused('1')).toEqual(['banner', 'checkout', 'never', 'stale', 'recent']);
  expect(await unused('30', '--limit', '1')).toEqual(['checkout']);
  expect(await unused('30', 'sta')).toEqual(['stale']);
  const { out } = await flagsCommand(['list', '--unused', '30', '--limit', '1', '--store', store]);
  expect(out).toContain('1 of 3 flags.');
  for (const days of ['0', '-1', '1.5', 'x']) {
    expect(await flagsCommand(['list', '--unused', days, '--store', store])).toMatchObject({ code: 64 });
  }
});
