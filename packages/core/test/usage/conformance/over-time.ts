import type { SumQuery, UsageReport, UsageStorage, UsageSum } from '../../../src/storage/usage/port.js';
import { DAY, HOUR, MINUTE, startOf } from '../../../src/storage/usage/rules.js';
import { assertEqual } from '../../../src/testing/test-runner.js';
import { NOW, once, pairsIn, record, report, type UsageRule } from './samples.js';

const TODAY = startOf('day', NOW);
const BY = ['flag', 'application', 'environment', 'start', 'variant'] as const;

/** Returns a row of one evaluation of `checkout` by `shop` in the hour of {@link NOW}, with the given changes. */
function row(given: Partial<UsageSum> = {}): UsageSum {
  const key = { flag: 'checkout', application: 'shop', environment: '', start: NOW, variant: '' };
  return { ...key, yes: 1, no: 0, ...given };
}

async function hoursOf(usage: UsageStorage, query: Partial<SumQuery> = {}): Promise<UsageSum[]> {
  return usage.sum({ resolution: 'hour', by: BY, ...query });
}

async function daysOf(usage: UsageStorage, query: Partial<SumQuery> = {}): Promise<UsageSum[]> {
  return usage.sum({ resolution: 'day', by: BY, ...query });
}

/** Records a batch of reports with these ends, which arrives at the last of the times. */
async function recordAt(usage: UsageStorage, stops: readonly number[], given: Partial<UsageReport> = {}) {
  const reports = stops.map((stop) => report({ ...given, stop }));
  await record(usage, reports, { at: Math.max(NOW, ...stops) });
}

/** Records two flags, of two applications in two environments and hours. */
async function recordEight(usage: UsageStorage): Promise<void> {
  for (const environment of ['production', 'development']) {
    for (const application of ['shop', 'billing']) {
      await recordAt(usage, [NOW, NOW - HOUR], { application, environment, counts: once('search', 'checkout') });
    }
  }
}

export function usageOverTimeRules(rule: UsageRule): void {
  rule('sums the reports of an hour, and of a day', async (usage) => {
    const counts = [{ flag: 'checkout', yes: 2, no: 1 }];
    await recordAt(usage, [NOW, NOW + 1, NOW + 30 * MINUTE, NOW + HOUR - 1, NOW + HOUR], { counts });
    assertEqual(await hoursOf(usage), [row({ yes: 8, no: 4 }), row({ start: NOW + HOUR, yes: 2, no: 1 })]);
    assertEqual(await daysOf(usage), [row({ start: TODAY, yes: 10, no: 5 })]);
  });

  rule('separates days at midnight UTC', async (usage) => {
    for (const stop of [TODAY - 1, TODAY]) await record(usage, report({ stop }), { at: TODAY });
    assertEqual(await daysOf(usage), [row({ start: TODAY - DAY }), row({ start: TODAY })]);
  });

  rule('counts a report in the hour that it names', async (usage) => {
    await record(usage, report({ stop: NOW, hour: NOW - HOUR }));
    assertEqual(await hoursOf(usage), [row({ start: NOW - HOUR })]);
  });

  rule('counts late reports in their own hours, one by one and in a batch with later ones', async (usage) => {
    for (const age of [0, 3, 1, 3, 26]) await recordAt(usage, [NOW - age * HOUR]);
    await recordAt(usage, [NOW + HOUR, NOW, NOW - HOUR]);
    assertEqual(await hoursOf(usage), [
      row({ start: NOW - 26 * HOUR }),
      ...[3, 1, 0].map((age) => row({ start: NOW - age * HOUR, yes: 2 })),
      row({ start: NOW + HOUR }),
    ]);
    assertEqual(await daysOf(usage), [row({ start: TODAY - DAY }), row({ start: TODAY, yes: 7 })]);
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 8 }]);
  });

  rule('adds up the variants of many reports, by name, in whichever order a report has them', async (usage) => {
    const names = ['__proto__', 'a"b', 'blue', '\u00f6'];
    for (let reports = 1; reports <= 40; reports++) {
      const listed = reports % 2 === 0 ? names : names.toReversed();
      const variants = listed.map((variant) => ({ variant, count: 2 }));
      await record(usage, report({ counts: [{ flag: 'checkout', yes: 1, no: 0, variants }] }));
    }
    await record(usage, report());
    const variants = [{ variant: 'blue', count: 5 }];
    await recordAt(usage, [NOW + HOUR], { counts: [{ flag: 'checkout', yes: 1, no: 0, variants }] });
    assertEqual(await hoursOf(usage), [
      row({ yes: 41 }),
      ...names.map((variant) => row({ variant, yes: 80 })),
      row({ start: NOW + HOUR }),
      row({ start: NOW + HOUR, variant: 'blue', yes: 5 }),
    ]);
    assertEqual(await daysOf(usage), [
      row({ start: TODAY, yes: 42 }),
      ...names.map((variant) => row({ start: TODAY, variant, yes: variant === 'blue' ? 85 : 80 })),
    ]);
    assertEqual(await usage.sum({ resolution: 'hour', by: ['flag'] }), [{ flag: 'checkout', yes: 42, no: 0 }]);
  });

  rule('separates flags, applications and environments, and lists by them, then time', async (usage) => {
    await recordEight(usage);
    const expected = ['checkout', 'search'].flatMap((flag) =>
      ['billing', 'shop'].flatMap((application) =>
        ['development', 'production'].flatMap((environment) =>
          [NOW - HOUR, NOW].map((start) => row({ flag, application, environment, start })),
        ),
      ),
    );
    assertEqual(await hoursOf(usage), expected);
    assertEqual(
      (await pairsIn(usage)).map(({ count }) => count),
      [4, 4, 4, 4],
    );
  });

  rule('selects by flag, application, environment and time', async (usage) => {
    await recordEight(usage);
    const one = { flag: 'search', application: 'billing', environment: 'production' };
    assertEqual(await hoursOf(usage, { ...one, from: NOW }), [row(one)]);
    for (const [query, rows] of [
      [{ flag: 'search' }, 8],
      [{ application: 'shop', from: NOW }, 4],
      [{ environment: 'production', until: NOW }, 4],
      [{ flag: 'banner' }, 0],
      [{ from: NOW + 1 }, 0],
    ] as const) {
      assertEqual((await hoursOf(usage, query)).length, rows);
    }
  });

  rule('leaves out unknown names', async (usage) => {
    await record(usage, report({ counts: [], unknown: once('typo') }));
    assertEqual([await hoursOf(usage), await daysOf(usage)], [[], []]);
  });

  rule('keeps the hours of a deleted application', async (usage) => {
    await recordAt(usage, [NOW - HOUR, NOW]);
    await usage.forget({ application: 'shop' });
    await record(usage, report());
    assertEqual(await hoursOf(usage), [row({ start: NOW - HOUR }), row({ yes: 2 })]);
    assertEqual(await daysOf(usage), [row({ start: TODAY, yes: 3 })]);
    assertEqual(await pairsIn(usage), [{ application: 'shop', flag: 'checkout', count: 1 }]);
  });

  rule('counts every report of concurrent writers, also when the hour changes', async (usage, again) => {
    const writers = [usage, await again()];
    const stops = Array.from({ length: 40 }, (_, index) => NOW + (index % 4) * HOUR);
    const given = { at: NOW + 4 * HOUR };
    await Promise.all(
      stops.flatMap((stop) =>
        writers.map((writer) => record(writer, report({ stop, counts: once('a', 'b', 'c') }), given)),
      ),
    );
    const flags = ['a', 'b', 'c'];
    assertEqual(
      await hoursOf(usage),
      flags.flatMap((flag) => [0, 1, 2, 3].map((age) => row({ flag, start: NOW + age * HOUR, yes: 20 }))),
    );
    assertEqual(
      await daysOf(usage),
      flags.map((flag) => row({ flag, start: TODAY, yes: 80 })),
    );
  });
}
