import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type {
  ConstraintDefinition,
  FlagDefinition,
  SegmentDefinition,
  VariantDefinition,
} from '../../src/evaluation/definitions.types.js';
import type { EvaluatedVariant, EvaluationContext } from '../../src/evaluation/evaluation.types.js';
import { patterns } from '../../src/evaluation/re2.js';
import { compileSnapshot, type Snapshot } from '../../src/evaluation/snapshot.js';
import { fromUnleash } from '../specification/wire-words.js';
import { flag, rollout, snapshotOf, weighted, withStrategy } from './one-flag.js';
import { unleashReference } from './unleash-reference.js';

describe('the public client specification', () => {
  interface SpecificationCase<Result> {
    readonly description: string;
    readonly context: EvaluationContext;
    readonly toggleName: string;
    readonly expectedResult: Result;
  }

  interface FullState {
    readonly features: FlagDefinition[];
    readonly segments?: SegmentDefinition[];
  }

  type DeltaEvent =
    | { readonly type: 'hydration'; readonly features: FlagDefinition[]; readonly segments: SegmentDefinition[] }
    | { readonly type: 'feature-updated'; readonly feature: FlagDefinition }
    | { readonly type: 'feature-removed'; readonly featureName: string }
    | { readonly type: 'segment-updated'; readonly segment: SegmentDefinition }
    | { readonly type: 'segment-removed'; readonly segmentId: number };

  interface Specification {
    readonly name: string;
    readonly state: FullState | { readonly events: DeltaEvent[] };
    readonly tests?: SpecificationCase<boolean>[];
    readonly variantTests?: SpecificationCase<EvaluatedVariant>[];
  }

  // The package's own entry point needs packages that it does not declare: its files are read instead.
  const folder = join(dirname(require.resolve('@unleash/client-specification/package.json')), 'specifications');
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'), fromUnleash);
  const specifications = (read('index.json') as string[]).map((file) => read(file) as Specification);

  function snapshotOf(state: Specification['state']): Snapshot {
    if (!('events' in state)) {
      return compileSnapshot({
        flags: state.features,
        segments: state.segments ?? [],
        now: Date.now,
        patterns: () => patterns,
      });
    }
    return state.events.reduce(afterEvent, compileSnapshot({ flags: [], now: Date.now, patterns: () => patterns }));
  }

  function afterEvent(snapshot: Snapshot, event: DeltaEvent): Snapshot {
    switch (event.type) {
      case 'hydration':
        return snapshot.with({ flags: event.features, segments: event.segments });
      case 'feature-updated':
        return snapshot.with({ flags: [event.feature] });
      case 'feature-removed':
        return snapshot.with({ removedFlags: [event.featureName] });
      case 'segment-updated':
        return snapshot.with({ segments: [event.segment] });
      case 'segment-removed':
        return snapshot.with({ removedSegments: [event.segmentId] });
    }
  }

  let declared = 0;

  for (const { name, state, tests = [], variantTests = [] } of specifications) {
    describe(name, () => {
      for (const [at, { description, toggleName, context, expectedResult }] of tests.entries()) {
        declared++;
        it(`matches case ${at}: ${description}`, () => {
          const snapshot = snapshotOf(state);
          expect(snapshot.isEnabled(toggleName, context)).toBe(expectedResult);
          expect(snapshot.explain(toggleName, context).enabled).toBe(expectedResult);
        });
      }

      for (const [at, { description, toggleName, context, expectedResult }] of variantTests.entries()) {
        declared++;
        it(`matches variant case ${at}: ${description}`, () => {
          const snapshot = snapshotOf(state);
          expect(snapshot.getVariant(toggleName, context)).toEqual(expectedResult);
          expect(snapshot.explain(toggleName, context).variant).toEqual(expectedResult);
        });
      }
    });
  }

  it('has all 279 cases of 22 files', () => {
    expect(specifications).toHaveLength(22);
    expect(declared).toBe(279);
  });
});

describe('the engine, unlike the Node SDK,', () => {
  /**
   * Intentional differences from the Node SDK of Unleash. Each test also asserts the result of the SDK, so that a
   * changed SDK is noticed. Ids that are not ASCII: rollout.test.ts.
   */
  function both(definition: FlagDefinition, context: EvaluationContext) {
    const ask = (engine: { isEnabled(name: string, context: EvaluationContext): boolean }) => {
      try {
        return engine.isEnabled('checkout', context);
      } catch {
        return 'throws';
      }
    };
    return { ours: ask(snapshotOf([definition])), theirs: ask(unleashReference([definition])) };
  }

  const constrained = (constraint: Partial<ConstraintDefinition>) =>
    flag({ strategies: [{ name: 'default', constraints: [{ contextName: 'field', operator: 'IN', ...constraint }] }] });

  it('returns no fallback variant for a flag that is off, or on without variants', () => {
    const fallback = { name: 'blue', enabled: true };
    for (const definition of [flag({ enabled: false }), flag()]) {
      expect(snapshotOf([definition]).getVariant('checkout', {}, fallback).name).toBe('disabled');
      expect(unleashReference([definition]).getVariant('checkout', {}, fallback).name).toBe('blue');
    }
  });

  it('ignores members of the context that do not exist in it: properties have the rest', () => {
    const context = { field: 'x' } as EvaluationContext;
    expect(both(constrained({ values: ['x'] }), context)).toEqual({ ours: false, theirs: true });
  });

  it('ignores inherited properties', () => {
    const inherited = { contextName: 'toString', operator: 'STR_CONTAINS', values: ['function'] };
    expect(both(constrained(inherited), { properties: {} })).toEqual({ ours: false, theirs: true });
  });

  it('reads a number as its string for userWithId, as everywhere', () => {
    const strategies = [{ name: 'userWithId', parameters: { userIds: '7' } }];
    expect(both(flag({ strategies }), { userId: 7 })).toEqual({ ours: true, theirs: false });
  });

  it('accepts the user 0', () => {
    const strategies = [{ name: 'gradualRolloutUserId', parameters: { percentage: 100, groupId: 'a' } }];
    expect(both(flag({ strategies }), { userId: 0 })).toEqual({ ours: true, theirs: false });
  });

  it('keeps the variant of a user that is a number', () => {
    const variants = weighted(1, 1);
    const names = Array.from(
      { length: 40 },
      () => snapshotOf([flag({ variants })]).getVariant('checkout', { userId: 7 }).name,
    );
    const theirs = Array.from(
      { length: 40 },
      () => unleashReference([flag({ variants })]).getVariant('checkout', { userId: 7 }).name,
    );
    expect(new Set(names).size).toBe(1);
    expect(new Set(theirs).size).toBe(2);
  });

  it.each([
    ['white space in a value', { operator: 'SEMVER_EQ', value: '1.2.3' }, ' 1.2.3 '],
    ['a v in an operand', { operator: 'SEMVER_EQ', value: 'v1.2.3' }, '1.2.3'],
  ])('compares versions by semver 2.0 to the letter: %s', (_, constraint, field) => {
    expect(both(constrained(constraint), { properties: { field } })).toEqual({ ours: false, theirs: true });
  });

  it.each(['STR_STARTS_WITH', 'STR_ENDS_WITH', 'STR_CONTAINS'])('matches nothing with blanks: %s', (operator) => {
    const constraint = { operator, values: ['@example.org', ' '] };
    const context = { properties: { field: 'eve@example.com' } };
    expect(both(constrained(constraint), context)).toEqual({ ours: false, theirs: true });
  });

  it('matches no guest by an empty entry of a list, or a blank override', () => {
    const strategies = [{ name: 'userWithId', parameters: { userIds: '7,' } }];
    expect(both(flag({ strategies }), { userId: '' })).toEqual({ ours: false, theirs: true });
    const [one, other] = weighted(1, 1000) as [VariantDefinition, VariantDefinition];
    for (const blank of ['', ' ']) {
      const overrides = [{ contextName: 'plan', values: [blank] }];
      const definition = flag({ variants: [{ ...one, weight: 0, overrides }, other] });
      const context = { userId: 'ada', properties: { plan: blank } };
      expect(snapshotOf([definition]).getVariant('checkout', context).name).toBe('variant-1');
      expect(unleashReference([definition]).getVariant('checkout', context).name).toBe('variant-0');
    }
  });

  it.each([
    { name: 'remoteAddress', parameters: { IPs: '10.0.0.1, ,' } },
    { name: 'applicationHostname', parameters: { hostNames: ',host-b' } },
  ])('ignores empty entries of lists: $parameters', (strategy) => {
    const snapshot = withStrategy(strategy, { hostname: '' });
    expect(snapshot.isEnabled('checkout', { remoteAddress: '' })).toBe(false);
  });

  it('finds an IPv4 client that a server which listens on IPv6 has mapped', () => {
    const remoteAddress = '::ffff:10.0.0.1';
    for (const IPs of ['10.0.0.1', '10.0.0.0/8', '::ffff:10.0.0.1']) {
      expect(both(flag({ strategies: [{ name: 'remoteAddress', parameters: { IPs } }] }), { remoteAddress }).ours).toBe(
        true,
      );
    }
    const constraint = { operator: 'IN_CIDR', values: ['10.0.0.0/8'] };
    expect(both(constrained(constraint), { properties: { field: remoteAddress } }).ours).toBe(true);
    // As text it stays: SDKs hash and compare it so.
    expect(both(constrained({ values: ['10.0.0.1'] }), { properties: { field: remoteAddress } })).toEqual({
      ours: false,
      theirs: false,
    });
  });

  it('loses no match without case that exists with case', () => {
    const constraint = { operator: 'STR_CONTAINS', values: ['ΟΔΟΣ'], caseInsensitive: true };
    const context = { properties: { field: 'ΟΔΟΣΑ' } };
    expect(both(constrained(constraint), context)).toEqual({ ours: true, theirs: false });
    const text = fc.string({ unit: fc.constantFrom(...'aAσςΣİıIißẞſK'), maxLength: 6 });
    fc.assert(
      fc.property(
        fc.constantFrom('STR_STARTS_WITH', 'STR_ENDS_WITH', 'STR_CONTAINS'),
        text.filter(Boolean),
        text,
        text,
        (operator, part, before, after) => {
          const field = `${before}${part}${after}`;
          const ask = (caseInsensitive: boolean) =>
            both(constrained({ operator, values: [part], caseInsensitive }), { properties: { field } }).ours;
          expect(ask(true) || !ask(false)).toBe(true);
        },
      ),
    );
  });

  it('rejects an address with a prefix length', () => {
    const constraint = { operator: 'IN_CIDR', values: ['10.0.0.0/8'] };
    expect(both(constrained(constraint), { properties: { field: '10.1.0.0/16' } })).toEqual({
      ours: false,
      theirs: true,
    });
  });

  it('does not match a null operand', () => {
    const constraint = { operator: 'NUM_EQ', value: null as never };
    expect(both(constrained(constraint), { properties: { field: '0' } })).toEqual({ ours: false, theirs: true });
    const date = { operator: 'DATE_AFTER', value: null as never };
    expect(both(constrained(date), {})).toEqual({ ours: false, theirs: true });
  });

  it('treats missing values as an empty list', () => {
    expect(both(constrained({ operator: 'NOT_IN' }), {})).toEqual({ ours: true, theirs: 'throws' });
  });

  it('turns a flag with a fractional weight off', () => {
    expect(both(flag({ variants: weighted(0.5, 0.5) }), {})).toEqual({ ours: false, theirs: true });
  });

  it('ignores a disabled strategy', () => {
    const strategies = [{ name: 'default', disabled: true }];
    expect(both(flag({ strategies }), {})).toEqual({ ours: false, theirs: true });
  });

  it('turns a broken flag off and does not throw', () => {
    expect(both(flag({ strategies: [null as never] }), {})).toEqual({ ours: false, theirs: 'throws' });
  });

  it('does not throw for a context that throws', () => {
    const hostile = {
      get userId(): string {
        throw new Error('no');
      },
    };
    expect(both(flag({ strategies: [rollout(50)] }), hostile)).toEqual({ ours: false, theirs: 'throws' });
  });
});
