import assert from 'node:assert/strict';
import type { SumQuery, UsageStorage, UsageSum } from '../../storage/usage-port.js';
import { DAY, HOUR, MINUTE, startOf } from '../../storage/usage-rules.js';
import { assertSame, type UsageRule } from '../test-runner.js';
import { NOW, once, pairsIn, record, report } from './samples.js';

const TODAY = startOf('day', NOW);
const BY = ['flag', 'application', 'environment', 'start', 'variant'] as const;

/** Returns a row of one evaluation of `checkout` by `shop` in the hour of {@link NOW}, with the given changes. */
function row(given: Partial<UsageSum> = {}): UsageSum {
  const key = { flag: 'checkout', application: 'shop', environment: '', start: NOW, variant: '' };
  return { ...key, yes: 1, no: 0, ...given };
}

/** Returns rows of variants. */
function variantRows(counts: readonly (readonly [variant: string, count: number])[], given: Partial<UsageSum> = {}) {
  return counts.map(([variant, count]) => row({ ...given, variant, yes: count, no: 0 }));
}

async function hoursOf(usage: UsageStorage, query: Partial<SumQuery> = {}): Promise<UsageSum[]> {
  return usage.sum({ resolution: 'hour', by: BY, ...query });
}

async function daysOf(usage: UsageStorage, query: Partial<SumQuery> = {}): Promise<UsageSum[]> {
  return usage.sum({ resolution: 'day', by: BY, ...query });
}

export function usageOverTimeRules(rule: UsageRule): void {
  rule('returns nothing before the first report', async (usage) => {
    assertSame([await hoursOf(usage), await daysOf(usage)], [[], []]);
  });

  rule('sums the reports of an hour, and of a day', async (usage) => {
    for (const stop of [NOW, NOW + 1, NOW + 30 * MINUTE, NOW + HOUR - 1, NOW + HOUR]) {
      await record(usage, report({ stop, counts: [{ flag: 'checkout', yes: 2, no: 1 }] }), { at: NOW + HOUR });
    }
    assertSame(await hoursOf(usage), [row({ yes: 8, no: 4 }), row({ start: NOW + HOUR, yes: 2, no: 1 })]);
    assertSame(await daysOf(usage), [row({ start: TODAY, yes: 10, no: 5 })]);
  });

  rule('separates days at midnight UTC', async (usage) => {
    for (const stop of [TODAY - 1, TODAY]) await record(usage, report({ stop }), { at: TODAY });
    assertSame(await daysOf(usage), [row({ start: TODAY - DAY }), row({ start: TODAY })]);
  });

  rule('counts a report in the hour that it names', async (usage) => {
    await record(usage, report({ stop: NOW, hour: NOW - HOUR }));
    assertSame(await hoursOf(usage), [row({ start: NOW - HOUR })]);
  });

  rule('counts late reports in their own hours', async (usage) => {
    for (const age of [0, 3, 1, 3, 0, 26]) await record(usage, report({ stop: NOW - age * HOUR }));
    assertSame(
      await hoursOf(usage),
      [26, 3, 1, 0].map((age) => row({ start: NOW - age * HOUR, yes: age % 3 === 0 ? 2 : 1 })),
    );
    assertSame(await daysOf(usage), [row({ start: TODAY - DAY }), row({ start: TODAY, yes: 5 })]);
  });

  rule('counts reports of several hours in one batch', async (usage) => {
    await record(
      usage,
      [NOW, NOW - HOUR, NOW, NOW - 2 * HOUR].map((stop) => report({ stop })),
    );
    await record(
      usage,
      [NOW - HOUR, NOW + HOUR].map((stop) => report({ stop })),
      { at: NOW + HOUR },
    );
    assertSame(await hoursOf(usage), [
      row({ start: NOW - 2 * HOUR }),
      row({ start: NOW - HOUR, yes: 2 }),
      row({ start: NOW, yes: 2 }),
      row({ start: NOW + HOUR }),
    ]);
  });

  rule('counts a late report that is in a batch with the first report of the next hour', async (usage) => {
    await record(usage, report({ stop: NOW }));
    await record(
      usage,
      [NOW + HOUR, NOW, NOW - HOUR].map((stop) => report({ stop })),
      { at: NOW + HOUR },
    );
    assertSame(await hoursOf(usage), [
      row({ start: NOW - HOUR }),
      row({ start: NOW, yes: 2 }),
      row({ start: NOW + HOUR }),
    ]);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 4 }]);
  });

  rule('adds up the variants of many reports, by name, in whichever order a report has them', async (usage) => {
    const variants = ['\u00f6', 'blue', 'a"b'].map((variant) => ({ variant, count: 1 }));
    const expected = (count: number) => ['a"b', 'blue', '\u00f6'].map((variant) => [variant, count] as const);
    for (let reports = 1; reports <= 40; reports++) {
      await record(usage, report({ counts: [{ flag: 'checkout', yes: 1, no: 0, variants }] }));
      if (reports % 39 === 1) {
        assertSame(await hoursOf(usage), [row({ yes: reports }), ...variantRows(expected(reports))]);
      }
    }
    const reversed = [...variants].reverse();
    await record(usage, report({ counts: [{ flag: 'checkout', yes: 1, no: 0, variants: reversed }] }));
    assertSame(await hoursOf(usage), [row({ yes: 41 }), ...variantRows(expected(41))]);
    assertSame(await usage.sum({ resolution: 'hour', by: ['flag'] }), [{ flag: 'checkout', yes: 41, no: 0 }]);
  });

  rule('separates flags, applications and environments, and lists by them, then time', async (usage) => {
    for (const environment of ['production', 'development']) {
      for (const application of ['shop', 'billing']) {
        for (const stop of [NOW, NOW - HOUR]) {
          await record(usage, report({ application, environment, stop, counts: once('search', 'checkout') }));
        }
      }
    }
    const expected = ['checkout', 'search'].flatMap((flag) =>
      ['billing', 'shop'].flatMap((application) =>
        ['development', 'production'].flatMap((environment) =>
          [NOW - HOUR, NOW].map((start) => row({ flag, application, environment, start })),
        ),
      ),
    );
    assertSame(await hoursOf(usage), expected);
    const pairs = await pairsIn(usage);
    assertSame(
      pairs.map(({ count }) => count),
      [4, 4, 4, 4],
    );
  });

  rule('selects by flag, application, environment and time', async (usage) => {
    for (const environment of ['production', 'development']) {
      for (const application of ['shop', 'billing']) {
        for (const stop of [NOW, NOW - HOUR]) {
          await record(usage, report({ application, environment, stop, counts: once('search', 'checkout') }));
        }
      }
    }
    const query = { flag: 'search', application: 'billing', environment: 'production', from: NOW };
    assertSame(await hoursOf(usage, query), [
      row({ flag: 'search', application: 'billing', environment: 'production' }),
    ]);
    assertSame((await hoursOf(usage, { flag: 'search' })).length, 8);
    assertSame((await hoursOf(usage, { application: 'shop', from: NOW })).length, 4);
    assertSame(await hoursOf(usage, { flag: 'banner' }), []);
    assertSame(await hoursOf(usage, { from: NOW + 1 }), []);
  });

  rule('returns pages, each after the last row of the page before', async (usage) => {
    for (const stop of [NOW - HOUR, NOW, NOW + HOUR]) {
      await record(usage, report({ stop, counts: once('a', 'b', 'c') }), { at: NOW + HOUR });
    }
    for (const query of [{}, { flag: 'b' }]) {
      const all = await hoursOf(usage, query);
      for (const limit of [1, 2, 5]) {
        const found: UsageSum[] = [];
        for (let page = await hoursOf(usage, { ...query, limit }); page.length > 0; ) {
          assert.ok(page.length <= limit);
          found.push(...page);
          page = await hoursOf(usage, { ...query, limit, ...lastOf(page) });
        }
        assertSame(found, all);
      }
    }
  });

  rule('returns two thousand flags, each once', async (usage) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${1000 + index}`);
    for (const stop of [NOW - HOUR, NOW]) await record(usage, report({ stop, counts: once(...flags) }));
    assertSame(
      await hoursOf(usage),
      flags.flatMap((flag) => [NOW - HOUR, NOW].map((start) => row({ flag, start }))),
    );
    assertSame(
      await daysOf(usage, { application: 'shop' }),
      flags.map((flag) => row({ flag, start: TODAY, yes: 2 })),
    );
  });

  rule('sums variants by name', async (usage) => {
    const counted = (...counts: readonly (readonly [string, number])[]) => [
      { flag: 'checkout', yes: 1, no: 0, variants: counts.map(([variant, count]) => ({ variant, count })) },
    ];
    await record(usage, report({ counts: counted(['red', 1], ['__proto__', 2]) }));
    await record(usage, report());
    await record(usage, report({ counts: counted(['\u00e9', 4], ['red', 3]) }));
    await record(usage, report({ stop: NOW + HOUR, counts: counted(['red', 5]) }), { at: NOW + HOUR });
    assertSame(await hoursOf(usage), [
      row({ yes: 3 }),
      ...variantRows([
        ['__proto__', 2],
        ['red', 4],
        ['\u00e9', 4],
      ]),
      row({ start: NOW + HOUR }),
      ...variantRows([['red', 5]], { start: NOW + HOUR }),
    ]);
    const days = [['__proto__', 2] as const, ['red', 9] as const, ['\u00e9', 4] as const];
    assertSame(await daysOf(usage), [row({ start: TODAY, yes: 4 }), ...variantRows(days, { start: TODAY })]);
  });

  rule('stops sums at the largest safe integer', async (usage) => {
    const max = Number.MAX_SAFE_INTEGER;
    const counts = [{ flag: 'checkout', yes: max, no: 1, variants: [{ variant: 'red', count: max }] }];
    for (const stop of [NOW, NOW, NOW + HOUR]) await record(usage, report({ stop, counts }), { at: NOW + HOUR });
    assertSame(await hoursOf(usage, { from: NOW, until: NOW + HOUR }), [
      row({ yes: max, no: 2 }),
      row({ variant: 'red', yes: max }),
    ]);
    assertSame(await daysOf(usage), [
      row({ start: TODAY, yes: max, no: 3 }),
      row({ start: TODAY, variant: 'red', yes: max }),
    ]);
  });

  rule('leaves out unknown names', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('typo') }));
    assertSame(await hoursOf(usage), []);
  });

  rule('keeps no hours and days that are too old when they are reported', async (usage) => {
    const ages = [167 * HOUR, 168 * HOUR, 29 * DAY, 30 * DAY];
    for (const age of ages) await record(usage, report({ stop: NOW - age }), { at: NOW });
    await record(usage, report());
    assertSame(await hoursOf(usage), [row({ start: NOW - 167 * HOUR }), row()]);
    assertSame(await daysOf(usage), [
      row({ start: TODAY - 29 * DAY }),
      row({ start: TODAY - 7 * DAY, yes: 2 }),
      row({ start: TODAY }),
    ]);
  });

  rule('keeps the hours of a deleted application', async (usage) => {
    for (const stop of [NOW - HOUR, NOW]) await record(usage, report({ stop }));
    await usage.forget({ application: 'shop' });
    await record(usage, report());
    assertSame(await hoursOf(usage), [row({ start: NOW - HOUR }), row({ yes: 2 })]);
    assertSame(await daysOf(usage), [row({ start: TODAY, yes: 3 })]);
    assertSame(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 1 }]);
  });

  rule('deletes the hours and days of a forgotten flag', async (usage) => {
    for (const stop of [NOW - HOUR, NOW]) await record(usage, report({ stop, counts: once('checkout', 'search') }));
    await usage.forget({ flags: ['checkout'] });
    assertSame(await hoursOf(usage, { from: NOW }), [row({ flag: 'search' })]);
    assertSame(await daysOf(usage), [row({ flag: 'search', start: TODAY, yes: 2 })]);
    assertSame(await hoursOf(usage, { flag: 'checkout' }), []);
  });

  rule('counts every report of concurrent writers, also when the hour changes', async (usage, again) => {
    const writers = [usage, await again()];
    const stops = Array.from({ length: 40 }, (_, index) => NOW + (index % 4) * HOUR);
    await Promise.all(
      stops.flatMap((stop) =>
        writers.map((writer) => record(writer, report({ stop, counts: once('a', 'b', 'c') }), { at: NOW + 4 * HOUR })),
      ),
    );
    for (const flag of ['a', 'b', 'c']) {
      assertSame(
        await hoursOf(usage, { flag }),
        [0, 1, 2, 3].map((age) => row({ flag, start: NOW + age * HOUR, yes: 20 })),
      );
      assertSame(await daysOf(usage, { flag }), [row({ flag, start: TODAY, yes: 80 })]);
    }
    assertSame((await pairsIn(usage))[0], { application: 'shop', flag: 'a', count: 80 });
  });

  rule('records nothing of a batch that fails', async (usage, _again, refuse) => {
    if (!refuse) return;
    await record(usage, report());
    await refuse('broken');
    const broken = report({ stop: NOW + HOUR, counts: once('checkout', 'broken') });
    await assert.rejects(() => record(usage, broken, { at: NOW + HOUR }));
    assertSame(await hoursOf(usage), [row()]);
    assertSame(await daysOf(usage), [row({ start: TODAY })]);
  });
}

function lastOf(page: readonly UsageSum[]): Pick<SumQuery, 'after'> {
  const after = page.at(-1);
  return after ? { after } : {};
}
