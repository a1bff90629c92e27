import fc from 'fast-check';
import { processorTime } from '../../../test/processor-time.js';
import type { ListedFlag } from '../app/api/types.js';
import { agingOf } from '../app/model/aging.js';
import { filterFromQuery, selectFlags } from '../app/model/flag-list.js';
import { rowWindow } from '../app/model/window.js';

const NOBODY = { audience: [], offBecauseOf: null };

function flag(name: string, rest: Partial<ListedFlag> = {}): ListedFlag {
  return {
    name,
    project: 'default',
    description: null,
    type: 'release',
    stale: false,
    archived: false,
    labels: [],
    owner: null,
    revision: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastSeenAt: null,
    environments: [{ name: 'production', enabled: false, strategyCount: 0, rollout: 0, hasVariants: false, ...NOBODY }],
    ...rest,
  };
}

const isOn = [
  {
    name: 'production',
    enabled: true,
    strategyCount: 1,
    rollout: 25,
    hasVariants: false,
    ...NOBODY,
    audience: [{ rollout: 25 }],
  },
];
const FLAGS = [
  flag('checkout', {
    description: 'Pay faster',
    owner: 'Team Shop',
    environments: isOn,
    lastSeenAt: '2026-02-02T00:00:00.000Z',
  }),
  flag('banner', { stale: true, labels: ['web'], type: 'experiment' }),
  flag('Search', { labels: ['web', 'beta'] }),
];

it.each([
  ['', ['Search', 'banner', 'checkout']],
  ['q=PAY', ['checkout']],
  ['q=shop+fast', ['checkout']],
  ['q=web', ['Search', 'banner']],
  ['type=experiment', ['banner']],
  ['stale=true', ['banner']],
  ['stale=false', ['Search', 'checkout']],
  ['label=beta', ['Search']],
  ['owner=Team+Shop', ['checkout']],
  ['state=on', ['checkout']],
  ['state=off%3Aproduction', ['Search', 'banner']],
  ['sort=-name', ['checkout', 'banner', 'Search']],
  ['sort=-lastSeenAt', ['checkout', 'Search', 'banner']],
  ['sort=__proto__', ['Search', 'banner', 'checkout']],
])('selects flags by the address "?%s": %j', (query, names) => {
  const selected = selectFlags(FLAGS, filterFromQuery(new URLSearchParams(query)));
  expect(selected.map(({ name }) => name)).toEqual(names);
});

it('filters 10,000 flags by text in less than 50 milliseconds', () => {
  const flags = Array.from({ length: 10_000 }, (_, index) =>
    flag(`flag-${index}`, { description: `What ${index} does` }),
  );
  selectFlags(flags, filterFromQuery(new URLSearchParams('q=warm')));
  const times = Array.from({ length: 5 }, (_, turn) => {
    const started = processorTime();
    selectFlags(flags, filterFromQuery(new URLSearchParams(`q=9${turn}`)));
    return processorTime() - started;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});

it('renders every row in view, and few others', () => {
  fc.assert(
    fc.property(fc.integer({ min: -500, max: 500_000 }), fc.nat(2_000), fc.nat(10_000), (scrolled, height, count) => {
      const { first, end } = rowWindow(scrolled, height, 48, count);
      expect(0 <= first && first <= end && end <= count).toBe(true);
      expect(end - first).toBeLessThanOrEqual(Math.ceil(height / 48) + 18);
      for (let row = Math.max(0, Math.floor(scrolled / 48)); row * 48 < scrolled + height && row < count; row++) {
        expect(first <= row && row < end).toBe(true);
      }
    }),
  );
});

it('names flags that may be due for removal, and selects them', () => {
  const day = 86_400_000;
  const timeAgo = (days: number) => new Date(Date.now() - days * day - 60_000).toISOString();
  const types = [
    { name: 'release', lifetimeDays: 40 },
    { name: 'permission', lifetimeDays: null },
  ];
  const old = flag('old', { createdAt: timeAgo(41), lastSeenAt: timeAgo(0) });
  const unused = flag('unused', { type: 'permission', createdAt: timeAgo(400), lastSeenAt: timeAgo(60) });
  const stale = flag('stale', { createdAt: timeAgo(41), stale: true });
  const fresh = flag('fresh', { createdAt: timeAgo(39) });
  expect([old, unused, stale, fresh].map((one) => agingOf(one, types))).toEqual([
    ['potentially stale: older than 40 days'],
    ['unused for 60 days'],
    [],
    [],
  ]);
  for (const [query, name] of [
    ['stale=potentially', 'old'],
    ['stale=unused', 'unused'],
    ['stale=true', 'stale'],
  ]) {
    const filter = filterFromQuery(new URLSearchParams(query));
    const selected = selectFlags([old, unused, stale, fresh], filter, types);
    expect(selected.map((one) => one.name)).toEqual([name]);
  }
});
