import fc from 'fast-check';
import { audienceOf, describeAudience, describeState } from '../../src/admin.js';
import type { StrategyDefinition } from '../../src/evaluation/definitions.types.js';
import { HashedPrefix, hashWith } from '../../src/evaluation/murmur3.js';
import type { EvaluationProblem } from '../../src/evaluation/problem.js';
import type { Snapshot, SnapshotOptions } from '../../src/evaluation/snapshot.js';
import { flag, rollout, snapshotOf, weighted, withStrategy } from './one-flag.js';
import { unleashReference } from './unleash-reference.js';

describe('the audience of a strategy', () => {
  const PERCENT = { name: 'flexibleRollout', parameters: { rollout: '20', stickiness: 'default', groupId: 'a' } };
  const FULL = { name: 'flexibleRollout', parameters: { rollout: 100 } };
  const USERS = { name: 'userWithId', parameters: { userIds: '1, 2,3,' } };
  const IN_DE = { constraints: [{ contextName: 'country', operator: 'IN', values: ['DE'] }] };
  const segmentName = (id: number) => (id === 7 ? 'EU customers' : undefined);

  describe('the audience of strategies', () => {
    it.each([
      ['100 %', [{ name: 'default' }]],
      ['100 %', [FULL]],
      ['100 %', [{ ...FULL, parameters: { rollout: '100', stickiness: 'random' } }]],
      ['100 %', [USERS, FULL, { ...PERCENT, ...IN_DE }]],
      ['100 % with companyId', [{ ...FULL, parameters: { rollout: 100, stickiness: 'companyId' } }]],
      ['100 % with userId', [{ name: 'gradualRolloutUserId', parameters: { percentage: '100' } }]],
      ['100 %', [{ name: 'gradualRolloutRandom', parameters: { percentage: '100' } }]],
      ['20 %', [PERCENT]],
      ['20 %', [PERCENT, PERCENT]],
      ['20 %', [PERCENT, { ...FULL, disabled: true }, { name: 'userWithId', parameters: { userIds: '' } }]],
      ['20 % + 3 users', [PERCENT, USERS]],
      ['1 address', [{ name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8' } }]],
      ['2 addresses', [{ name: 'remoteAddress', parameters: { IPs: '10.0.0.1,10.0.0.2' } }]],
      ['20 % of EU customers', [{ ...PERCENT, segments: [7] }]],
      ['EU customers', [{ name: 'default', segments: [7] }]],
      ['20 % of segment 8', [{ ...PERCENT, segments: [8] }]],
      ['targeted', [{ ...FULL, ...IN_DE }]],
      ['targeted', [{ ...USERS, ...IN_DE }]],
      ['targeted', [{ ...FULL, segments: [7, 8] }]],
      ['targeted', [{ ...FULL, segments: [7], ...IN_DE }]],
      ['targeted', [{ name: 'ourOwnStrategy', parameters: { rollout: '100' } }]],
      ['20 % targeted', [{ ...PERCENT, ...IN_DE }]],
      ['targeted', [PERCENT, USERS, { ...FULL, segments: [7] }]],
      ['0 %', [{ ...FULL, disabled: true }]],
      ['0 %', [{ ...PERCENT, parameters: { rollout: 'many' } }]],
      ['0 %', [{ ...FULL, parameters: { rollout: 100, stickiness: {} } }]],
      ['0 %', [{ name: 'constructor', parameters: null, disabled: true }]],
      ['', []],
    ])('reads "%s" for %j', (words, strategies) => {
      expect(describeAudience(audienceOf(strategies), segmentName)).toBe(words);
    });
  });

  it.each([
    ['0 % + flexibleRolout unknown here: never on', [{ name: 'flexibleRolout' }]],
    [
      '100 % + flexibleRollout unknown parameter rolout',
      [FULL, { name: 'flexibleRollout', parameters: { rolout: 50 } }],
    ],
    ['targeted', [{ name: 'ourOwnStrategy', parameters: { anything: 1 } }]],
    [
      '50 % + flexibleRollout stickiness USERID instead of userId: never on',
      [{ name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'USERID' } }],
    ],
    [
      'targeted + default IN always compares case',
      [{ name: 'default', constraints: [{ contextName: 'country', operator: 'IN', caseInsensitive: true }] }],
    ],
    ['20 %', [PERCENT, { name: 'flexibleRolout', disabled: true }]],
  ])('names what the host does not know: "%s"', (words, strategies) => {
    expect(describeAudience(audienceOf(strategies, ['ourOwnStrategy']), segmentName)).toBe(words);
  });

  it('names a disabled flag, and a parent as the cause', () => {
    const audience = audienceOf([PERCENT]);
    expect(describeState({ enabled: false, audience }, segmentName)).toBe('off');
    expect(describeState({ enabled: true, offBecauseOf: 'payments', audience }, segmentName)).toBe(
      'off because of payments',
    );
    expect(describeState({ enabled: true, offBecauseOf: null, audience }, segmentName)).toBe('20 %');
  });
});

/** Whether the strategy decides without failing. The next strategy always holds, and nothing is reported. */
function isSound(strategy: StrategyDefinition, context: object, options: Partial<SnapshotOptions> = {}): boolean {
  const problems: EvaluationProblem[] = [];
  const strategies = [strategy, { name: 'default' }];
  const onProblem = (problem: EvaluationProblem) => problems.push(problem);
  const snapshot = snapshotOf([flag({ strategies })], { ...options, onProblem });
  return snapshot.isEnabled('checkout', context) && problems.length === 0;
}

describe('remoteAddress', () => {
  const strategy = {
    name: 'remoteAddress',
    parameters: { IPs: 'localhost, 10.0.0.0/8, 192.0.2.7, 2001:db8::/32, ::1' },
  };
  const isOn = (remoteAddress: string) => withStrategy(strategy).isEnabled('checkout', { remoteAddress });

  it.each(['localhost', '10.1.2.3', '192.0.2.7', '::1', '2001:db8::/32'])('holds for %s', (address) => {
    expect(isOn(address)).toBe(true);
  });

  it.each(['remotehost', '11.0.0.1', '192.0.2.8', '2001:db8::1', '::2', ''])('does not hold for %j', (address) => {
    expect(isOn(address)).toBe(false);
  });

  it('does not hold without an address, and lets the next strategy decide', () => {
    expect(withStrategy(strategy).isEnabled('checkout', {})).toBe(false);
    expect(isSound(strategy, {})).toBe(true);
  });
});

describe('applicationHostname', () => {
  const strategy = { name: 'applicationHostname', parameters: { hostNames: 'Web-1, web-2' } };

  it('holds on the listed hosts, ignoring case', () => {
    const isOn = (hostname: string) => withStrategy(strategy, { hostname }).isEnabled('checkout');
    expect(['web-1', 'WEB-2', 'web-3', ''].map(isOn)).toEqual([true, true, false, false]);
  });

  it('does not hold where the host is unknown, and lets the next strategy decide', () => {
    expect(withStrategy(strategy).isEnabled('checkout')).toBe(false);
    expect(isSound(strategy, {})).toBe(true);
  });
});

describe('a rollout', () => {
  const explained = (strategy: StrategyDefinition, context: object) => {
    return withStrategy(strategy, { random: () => 0.25 }).explain('checkout', context).strategies[0]?.rollout;
  };

  it('draws at random, whatever the property random is', () => {
    const strategy = { name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'random', groupId: 'g' } };
    const rollout = explained(strategy, { userId: '7', properties: { random: '7' } });
    expect(rollout).toEqual({ holds: true, groupId: 'g', bucket: 26, random: true, rollout: 50 });
  });

  it('has an empty group if none is configured', () => {
    for (const [name, parameters] of [
      ['flexibleRollout', { rollout: 50 }],
      ['gradualRolloutUserId', { percentage: 50 }],
      ['gradualRolloutRandom', { percentage: 50, groupId: 'not looked at' }],
    ] as const) {
      expect(explained({ name, parameters: { ...parameters } }, { userId: '7' })?.groupId).toBe('');
    }
  });
});

describe('a rollout over 100,000 users', () => {
  const USERS = 100_000;
  /** A random sample exceeds these bounds once in 15,000 times, and the users are always the same. */
  const SIGMAS = 4;

  const users = Array.from({ length: USERS }, (_, at) => ({ userId: `user-${at}`, sessionId: `session-${at}` }));

  function expectShare(count: number, share: number): void {
    const deviation = Math.sqrt(USERS * share * (1 - share));
    expect(Math.abs(count - USERS * share)).toBeLessThanOrEqual(SIGMAS * deviation);
  }

  const countOn = (snapshot: Snapshot) => users.filter((user) => snapshot.isEnabled('checkout', user)).length;

  /** Returns numbers from 0 to 1, the same in every run. */
  function seededRandom(): () => number {
    let state = 1;
    return () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
  }

  it.each([0, 1, 10, 33, 50, 90, 99, 100])('includes %d %% of them at that percentage', (percentage) => {
    expectShare(countOn(withStrategy(rollout(percentage))), percentage / 100);
  });

  it('ignores a fraction of a percent', () => {
    expect(countOn(withStrategy(rollout(33.9)))).toBe(countOn(withStrategy(rollout(33))));
    expect(countOn(withStrategy(rollout(0.5)))).toBe(0);
  });

  it.each(['gradualRolloutUserId', 'gradualRolloutSessionId', 'gradualRolloutRandom'])(
    'includes 25 %% with %s',
    (name) => {
      const strategy = { name, parameters: { percentage: 25, groupId: 'checkout' } };
      expectShare(countOn(withStrategy(strategy, { random: seededRandom() })), 0.25);
    },
  );

  it.each(['random', 'default'])('includes half at random with stickiness %s and no id to hash', (stickiness) => {
    const snapshot = withStrategy(rollout(50, { stickiness }), { random: seededRandom() });
    expectShare(users.filter(() => snapshot.isEnabled('checkout', {})).length, 0.5);
  });

  it.each([[[1, 1]], [[334, 333, 333]], [[1, 9, 90]], [[1, 999]], [[100, 0, 100]]])(
    'gives variants their shares: %j',
    (weights) => {
      const snapshot = snapshotOf([flag({ variants: weighted(...weights) })]);
      const counts = new Map<string, number>();
      for (const user of users) {
        const { name } = snapshot.getVariant('checkout', user);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      const total = weights.reduce((sum, weight) => sum + weight);
      for (const [at, weight] of weights.entries()) expectShare(counts.get(`variant-${at}`) ?? 0, weight / total);
    },
  );

  it('always gives a user the same result, and keeps it as the percentage grows', () => {
    const variants = weighted(1, 1, 1);
    const few = snapshotOf([flag({ variants, strategies: [rollout(20)] })]);
    const more = snapshotOf([flag({ variants, strategies: [rollout(40)] })]);
    const first = users.map((user) => few.getVariant('checkout', user).name);
    const again = users.toReversed().map((user) => few.getVariant('checkout', { ...user }).name);
    expect(again.reverse()).toEqual(first);
    const lost = users.filter((user) => few.isEnabled('checkout', user) && !more.isEnabled('checkout', user));
    expect(lost).toEqual([]);
  });

  it('draws independently in different groups', () => {
    const one = withStrategy(rollout(50, { groupId: 'one' }));
    const other = withStrategy(rollout(50, { groupId: 'other' }));
    const both = users.filter((user) => one.isEnabled('checkout', user) && other.isEnabled('checkout', user)).length;
    expectShare(both, 0.25);
  });

  it('draws variants independently of the rollout', () => {
    const snapshot = snapshotOf([flag({ variants: weighted(1, 1), strategies: [rollout(50)] })]);
    const first = users.filter((user) => snapshot.getVariant('checkout', user).name === 'variant-0').length;
    expectShare(first, 0.25);
  });
});

const hash = (prefix: string, id: string, seed = 0) => hashWith(new HashedPrefix(prefix, seed, 'utf8'), id) >>> 0;

/** Murmur3 over bytes, implemented as in its description. */
function murmur3(bytes: Uint8Array, seed: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const scrambled = (block: number) => Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
  const rotated = (value: number, by: number) => (value << by) | (value >>> (32 - by));
  const whole = bytes.length - (bytes.length % 4);
  let state = seed;
  for (let at = 0; at < whole; at += 4) {
    state = (Math.imul(rotated(state ^ scrambled(view.getInt32(at, true)), 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | view.getUint8(at);
  state ^= scrambled(tail) ^ bytes.length;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

describe('the hash', () => {
  it('is murmur3 (x86, 32 bits) by its published vectors', () => {
    expect(hash('', '')).toBe(0);
    expect(hash('', '', 1)).toBe(0x514e28b7);
    expect(hash('', 'test')).toBe(0xba6bd213);
    expect(hash('', 'Hello, world!', 0x9747b28c)).toBe(0x24884cba);
    expect(hash('', 'The quick brown fox jumps over the lazy dog', 0x9747b28c)).toBe(0x2fa826cd);
  });

  it('uses the UTF-8 bytes of prefix and id together, wherever the prefix ends', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\ud800'), fc.string({ maxLength: 1 })),
    });
    fc.assert(
      fc.property(text, text, fc.integer(), (prefix, id, seed) => {
        const joined = Buffer.concat([Buffer.from(prefix), Buffer.from(id)]);
        expect(hash(prefix, id, seed)).toBe(murmur3(joined, seed));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'])(
    'uses the UTF-8 bytes of ids at the limits of each length: %j',
    (character) => {
      const id = `${character}a${character}`;
      expect(hash('', id)).toBe(murmur3(Buffer.from(id), 0));
    },
  );

  it.each(['\ud800', '\udbff', '\udc00', '\udfff'])('reads an unpaired surrogate as U+FFFD: %j', (half) => {
    expect(hash('', `a${half}b`)).toBe(hash('', 'a\ufffdb'));
  });

  it('does not depend on the encoding for an ASCII id', () => {
    const ascii = fc.string({ unit: 'binary-ascii' });
    fc.assert(
      fc.property(ascii, ascii, (prefix, id) => {
        expect(hashWith(new HashedPrefix(prefix, 0, 'low-byte'), id)).toBe(
          hashWith(new HashedPrefix(prefix, 0, 'utf8'), id),
        );
      }),
    );
  });
});

describe('ids that are not ASCII', () => {
  const strategy = rollout(50, { groupId: 'gruppé' });
  const ids = Array.from({ length: 300 }, (_, at) => `å${at}-ключ-€-😀`);
  const decisions = (snapshot: { isEnabled(name: string, context: object): boolean }) =>
    ids.map((userId) => snapshot.isEnabled('checkout', { userId }));

  it('are hashed as UTF-8', () => {
    const expected = ids.map((id) => (murmur3(Buffer.from(`gruppé:${id}`), 0) % 100) + 1 <= 50);
    expect(decisions(withStrategy(strategy))).toEqual(expected);
  });

  it('are hashed as the Node SDK does on demand', () => {
    const reference = unleashReference([{ name: 'checkout', enabled: true, strategies: [strategy] }]);
    expect(decisions(withStrategy(strategy, { idEncoding: 'low-byte' }))).toEqual(decisions(reference));
    expect(decisions(withStrategy(strategy))).not.toEqual(decisions(reference));
  });
});
