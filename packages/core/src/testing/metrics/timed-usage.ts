import assert from 'node:assert/strict';
import type { MetricsStorage, TimedUsage, TimedUsageQuery } from '../../storage/metrics-port.js';
import { DAY, HOUR, startOf } from '../../storage/timed-usage.js';
import { assertSame, type MetricsRule } from '../test-runner.js';
import { MINUTE, NOW, once, report } from './samples.js';

const TODAY = startOf('day', NOW);

/** Returns a row of one evaluation of `checkout` by `shop` in the hour of {@link NOW}, with the given changes. */
function row(given: Partial<TimedUsage> = {}): TimedUsage {
  const key = { flag: 'checkout', application: 'shop', environment: '', start: NOW };
  return { ...key, yes: 1, no: 0, variants: [], ...given };
}

function hoursOf(metrics: MetricsStorage, query: Partial<TimedUsageQuery> = {}) {
  return metrics.timedUsage({ unit: 'hour', from: 0, ...query });
}

function daysOf(metrics: MetricsStorage, query: Partial<TimedUsageQuery> = {}) {
  return metrics.timedUsage({ unit: 'day', from: 0, ...query });
}

export function timedUsageRules(rule: MetricsRule): void {
  rule('returns nothing before the first report', async (metrics) => {
    assertSame([await hoursOf(metrics), await daysOf(metrics)], [[], []]);
  });

  rule('sums the reports of an hour, and of a day', async (metrics) => {
    for (const stop of [NOW, NOW + 1, NOW + 30 * MINUTE, NOW + HOUR - 1, NOW + HOUR]) {
      await metrics.record([report({ at: NOW + HOUR, stop, counts: [{ flag: 'checkout', yes: 2, no: 1 }] })]);
    }
    assertSame(await hoursOf(metrics), [row({ yes: 8, no: 4 }), row({ start: NOW + HOUR, yes: 2, no: 1 })]);
    assertSame(await daysOf(metrics), [row({ start: TODAY, yes: 10, no: 5 })]);
  });

  rule('separates days at midnight UTC', async (metrics) => {
    for (const stop of [TODAY - 1, TODAY]) await metrics.record([report({ at: TODAY, stop })]);
    assertSame(await daysOf(metrics), [row({ start: TODAY - DAY }), row({ start: TODAY })]);
  });

  rule('counts a report in the hour that it names', async (metrics) => {
    await metrics.record([report({ stop: NOW, hour: NOW - HOUR })]);
    assertSame(await hoursOf(metrics), [row({ start: NOW - HOUR })]);
  });

  rule('counts late reports in their own hours', async (metrics) => {
    for (const age of [0, 3, 1, 3, 0, 26]) await metrics.record([report({ stop: NOW - age * HOUR })]);
    assertSame(
      await hoursOf(metrics),
      [26, 3, 1, 0].map((age) => row({ start: NOW - age * HOUR, yes: age % 3 === 0 ? 2 : 1 })),
    );
    assertSame(await daysOf(metrics), [row({ start: TODAY - DAY }), row({ start: TODAY, yes: 5 })]);
  });

  rule('counts reports of several hours in one batch', async (metrics) => {
    await metrics.record([NOW, NOW - HOUR, NOW, NOW - 2 * HOUR].map((stop) => report({ stop })));
    await metrics.record([NOW - HOUR, NOW + HOUR].map((stop) => report({ at: NOW + HOUR, stop })));
    assertSame(await hoursOf(metrics), [
      row({ start: NOW - 2 * HOUR }),
      row({ start: NOW - HOUR, yes: 2 }),
      row({ start: NOW, yes: 2 }),
      row({ start: NOW + HOUR }),
    ]);
  });

  rule('counts a late report that is in a batch with the first report of the next hour', async (metrics) => {
    await metrics.record([report({ stop: NOW })]);
    await metrics.record([NOW + HOUR, NOW, NOW - HOUR].map((stop) => report({ at: NOW + HOUR, stop })));
    assertSame(await hoursOf(metrics), [
      row({ start: NOW - HOUR }),
      row({ start: NOW, yes: 2 }),
      row({ start: NOW + HOUR }),
    ]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 4 }]);
  });

  rule('adds up the variants of many reports, by name, in whichever order a report has them', async (metrics) => {
    const variants = ['ö', 'blue', 'a"b'].map((variant) => ({ variant, count: 1 }));
    for (let reports = 0; reports < 40; reports++) {
      await metrics.record([report({ counts: [{ flag: 'checkout', yes: 1, no: 0, variants }] })]);
      const expected = ['a"b', 'blue', 'ö'].map((variant) => ({ variant, count: reports + 1 }));
      if (reports % 39 === 0) assertSame(await hoursOf(metrics), [row({ yes: reports + 1, variants: expected })]);
    }
    await metrics.record([
      report({ counts: [{ flag: 'checkout', yes: 1, no: 0, variants: [...variants].reverse() }] }),
    ]);
    const expected = ['a"b', 'blue', 'ö'].map((variant) => ({ variant, count: 41 }));
    assertSame(await hoursOf(metrics), [row({ yes: 41, variants: expected })]);
  });

  rule('separates flags, applications and environments, and lists by them, then time', async (metrics) => {
    for (const environment of ['production', 'development']) {
      for (const application of ['shop', 'billing']) {
        for (const stop of [NOW, NOW - HOUR]) {
          await metrics.record([report({ application, environment, stop, counts: once('search', 'checkout') })]);
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
    assertSame(await hoursOf(metrics), expected);
    const usage = await metrics.usage();
    assertSame(
      usage.map(({ count }) => count),
      [4, 4, 4, 4],
    );
  });

  rule('selects by flag, application, environment and time', async (metrics) => {
    for (const environment of ['production', 'development']) {
      for (const application of ['shop', 'billing']) {
        for (const stop of [NOW, NOW - HOUR]) {
          await metrics.record([report({ application, environment, stop, counts: once('search', 'checkout') })]);
        }
      }
    }
    const query = { flag: 'search', application: 'billing', environment: 'production', from: NOW };
    assertSame(await hoursOf(metrics, query), [
      row({ flag: 'search', application: 'billing', environment: 'production' }),
    ]);
    assertSame((await hoursOf(metrics, { flag: 'search' })).length, 8);
    assertSame((await hoursOf(metrics, { application: 'shop', from: NOW })).length, 4);
    assertSame(await hoursOf(metrics, { flag: 'banner' }), []);
    assertSame(await hoursOf(metrics, { from: NOW + 1 }), []);
  });

  rule('returns pages, each after the last row of the page before', async (metrics) => {
    for (const stop of [NOW - HOUR, NOW, NOW + HOUR]) {
      await metrics.record([report({ at: NOW + HOUR, stop, counts: once('a', 'b', 'c') })]);
    }
    for (const query of [{}, { flag: 'b' }]) {
      const all = await hoursOf(metrics, query);
      for (const limit of [1, 2, 5]) {
        const found: TimedUsage[] = [];
        for (let page = await hoursOf(metrics, { ...query, limit }); page.length > 0; ) {
          assert.ok(page.length <= limit);
          found.push(...page);
          page = await hoursOf(metrics, { ...query, limit, ...lastOf(page) });
        }
        assertSame(found, all);
      }
    }
  });

  rule('returns two thousand flags, each once', async (metrics) => {
    const flags = Array.from({ length: 2000 }, (_, index) => `flag-${1000 + index}`);
    for (const stop of [NOW - HOUR, NOW]) await metrics.record([report({ stop, counts: once(...flags) })]);
    assertSame(
      await hoursOf(metrics),
      flags.flatMap((flag) => [NOW - HOUR, NOW].map((start) => row({ flag, start }))),
    );
    assertSame(
      await daysOf(metrics, { application: 'shop' }),
      flags.map((flag) => row({ flag, start: TODAY, yes: 2 })),
    );
  });

  rule('sums variants by name', async (metrics) => {
    const variants = (...counts: readonly (readonly [string, number])[]) =>
      counts.map(([variant, count]) => ({ variant, count }));
    const counted = (...counts: readonly (readonly [string, number])[]) => [
      { flag: 'checkout', yes: 1, no: 0, variants: variants(...counts) },
    ];
    await metrics.record([report({ counts: counted(['red', 1], ['__proto__', 2]) })]);
    await metrics.record([report()]);
    await metrics.record([report({ counts: counted(['\u0000\ud800', 4], ['red', 3]) })]);
    await metrics.record([report({ at: NOW + HOUR, stop: NOW + HOUR, counts: counted(['red', 5]) })]);
    const first = variants(['\u0000\ud800', 4], ['__proto__', 2], ['red', 4]);
    assertSame(await hoursOf(metrics), [
      row({ yes: 3, variants: first }),
      row({ start: NOW + HOUR, variants: variants(['red', 5]) }),
    ]);
    const all = variants(['\u0000\ud800', 4], ['__proto__', 2], ['red', 9]);
    assertSame(await daysOf(metrics), [row({ start: TODAY, yes: 4, variants: all })]);
  });

  rule('stops sums at the largest safe integer', async (metrics) => {
    const max = Number.MAX_SAFE_INTEGER;
    const counts = [{ flag: 'checkout', yes: max, no: 1, variants: [{ variant: 'red', count: max }] }];
    for (const stop of [NOW, NOW, NOW + HOUR]) await metrics.record([report({ at: NOW + HOUR, stop, counts })]);
    const variants = [{ variant: 'red', count: max }];
    assertSame(await hoursOf(metrics, { from: NOW }), [
      row({ yes: max, no: 2, variants }),
      row({ start: NOW + HOUR, yes: max, no: 1, variants }),
    ]);
    assertSame(await daysOf(metrics), [row({ start: TODAY, yes: max, no: 3, variants })]);
  });

  rule('leaves out unknown names', async (metrics) => {
    await metrics.record([report({ counts: [], unknown: once('typo') })]);
    assertSame(await hoursOf(metrics), []);
  });

  rule('keeps no hours and days that are too old when they are reported', async (metrics) => {
    const ages = [167 * HOUR, 168 * HOUR, 29 * DAY, 30 * DAY];
    for (const age of ages) await metrics.record([report({ at: NOW, stop: NOW - age })]);
    await metrics.record([report()]);
    await metrics.prune({ countersUntil: 0, unseenSince: 0, isFlag: () => true, ...kept(NOW) });
    assertSame(await hoursOf(metrics), [row({ start: NOW - 167 * HOUR }), row()]);
    assertSame(await daysOf(metrics), [
      row({ start: TODAY - 29 * DAY }),
      row({ start: TODAY - 7 * DAY, yes: 2 }),
      row({ start: TODAY }),
    ]);
  });

  rule('deletes hours and days before the given times', async (metrics) => {
    for (const age of [0, 1, 2, 26]) await metrics.record([report({ stop: NOW - age * HOUR })]);
    const retention = { countersUntil: 0, unseenSince: 0, isFlag: () => true };
    await metrics.prune({ ...retention, hoursBefore: NOW - HOUR });
    assertSame(await hoursOf(metrics, { from: NOW - HOUR }), [row({ start: NOW - HOUR }), row()]);
    assertSame((await hoursOf(metrics)).length, 2);
    assertSame(await daysOf(metrics), [row({ start: TODAY - DAY }), row({ start: TODAY, yes: 3 })]);
    await metrics.prune({ ...retention, hoursBefore: NOW - HOUR, daysBefore: TODAY });
    assertSame(await daysOf(metrics), [row({ start: TODAY, yes: 3 })]);
  });

  rule('keeps the hours of a deleted application', async (metrics) => {
    for (const stop of [NOW - HOUR, NOW]) await metrics.record([report({ stop })]);
    await metrics.forgetApplication('shop');
    await metrics.record([report()]);
    assertSame(await hoursOf(metrics), [row({ start: NOW - HOUR }), row({ yes: 2 })]);
    assertSame(await daysOf(metrics), [row({ start: TODAY, yes: 3 })]);
    assertSame(await metrics.usage(), [{ application: 'shop', flag: 'checkout', count: 1 }]);
  });

  rule('deletes the hours and days of a forgotten flag', async (metrics) => {
    for (const stop of [NOW - HOUR, NOW]) await metrics.record([report({ stop, counts: once('checkout', 'search') })]);
    await metrics.forget('checkout');
    assertSame(await hoursOf(metrics, { from: NOW }), [row({ flag: 'search' })]);
    assertSame(await daysOf(metrics), [row({ flag: 'search', start: TODAY, yes: 2 })]);
    assertSame(await hoursOf(metrics, { flag: 'checkout' }), []);
  });

  rule('counts every report of concurrent writers, also when the hour changes', async (metrics, again) => {
    const writers = [metrics, await again()];
    const stops = Array.from({ length: 40 }, (_, index) => NOW + (index % 4) * HOUR);
    await Promise.all(
      stops.flatMap((stop) =>
        writers.map(async (writer) =>
          writer.record([report({ at: NOW + 4 * HOUR, stop, counts: once('a', 'b', 'c') })]),
        ),
      ),
    );
    for (const flag of ['a', 'b', 'c']) {
      assertSame(
        await hoursOf(metrics, { flag }),
        [0, 1, 2, 3].map((age) => row({ flag, start: NOW + age * HOUR, yes: 20 })),
      );
      assertSame(await daysOf(metrics, { flag }), [row({ flag, start: TODAY, yes: 80 })]);
    }
    assertSame((await metrics.usage())[0], { application: 'shop', flag: 'a', count: 80 });
  });

  rule('records nothing of a batch that fails', async (metrics, _again, refuse) => {
    if (!refuse) return;
    await metrics.record([report()]);
    await refuse('broken');
    await assert.rejects(async () =>
      metrics.record([report({ at: NOW + HOUR, stop: NOW + HOUR, counts: once('checkout', 'broken') })]),
    );
    assertSame(await hoursOf(metrics), [row()]);
    assertSame(await daysOf(metrics), [row({ start: TODAY })]);
  });
}

function kept(now: number) {
  return { hoursBefore: now - 167 * HOUR, daysBefore: startOf('day', now) - 29 * DAY };
}

function lastOf(page: readonly TimedUsage[]): Pick<TimedUsageQuery, 'after'> {
  const after = page.at(-1);
  return after ? { after } : {};
}
