import { processorTime } from '../../../test/processor-time.js';
import { REGISTRY } from '../src/features.js';
import {
  type Constraint,
  type Flags,
  memoryStorage,
  openFlags,
  type SegmentChanges,
  type StrategyInput,
} from '../src/index.js';
import { documentTooLarge } from '../src/kernel/changes/refusals.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from './references.js';
import { expectRefusal, refusalOf } from './refusal.js';
import { SILENT } from './replica/silent.js';

describe('the size of a document', () => {
  const MIB = 1_048_576;
  const LONG = 'x'.repeat(500_000);

  /** Constraints of about this size in bytes. */
  function constraintsOf(bytes: number): readonly Constraint[] {
    const values = Array.from({ length: bytes / 10_000 }, (_, n) => `${n}`.padEnd(9990, '-'));
    return [{ contextName: 'userId', operator: 'IN', values }];
  }

  async function withCheckout(flags: Flags<string>): Promise<Flags<string>> {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default', parameters: { a: LONG, b: LONG } });
    return flags;
  }

  onEveryStorage((start) => {
    describe('a document', () => {
      it('has at most 1 MiB, and changes that would exceed it are refused', async () => {
        const flags = await withCheckout(await start());
        const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
        const strategy = { ...PRODUCTION, strategy: id };
        const large = { name: 'default', parameters: { a: 'x'.repeat(60_000) } };
        const payload = { type: 'string', value: 'x'.repeat(60_000) } as const;
        const attempts = [
          () => flags.addStrategy(PRODUCTION, large),
          () => flags.updateStrategy(strategy, large),
          () => flags.setVariants(CHECKOUT, [{ name: 'a', payload }]),
          () => flags.updateFlag(CHECKOUT, { description: '\u0001'.repeat(9000) }),
          () => flags.segments.create({ name: 'large', constraints: constraintsOf(1.1 * MIB) }),
        ];
        for (const attempt of attempts) {
          const { message } = await expectRefusal(flags, 'document_too_large', attempt);
          expect(message).toMatch(/would have \d+ bytes, but a document may have at most 1048576; /);
        }
      });

      it('can be switched, archived, revived and deleted when it is full', async () => {
        const flags = await withCheckout(await start());
        const { id } = await flags.addStrategy(PRODUCTION, { name: 'default' });
        const fill = (length: number) =>
          flags.updateStrategy({ ...PRODUCTION, strategy: id }, { name: 'd', parameters: { a: 'x'.repeat(length) } });
        const { message } = await refusalOf(fill(100_000));
        const full = 100_000 - (Number(/would have (\d+) bytes/.exec(message)?.[1]) - MIB);
        await fill(full);
        expect((await refusalOf(fill(full + 1))).code).toBe('document_too_large');
        await flags.enable(PRODUCTION);
        await flags.disable(PRODUCTION);
        await flags.updateFlag(CHECKOUT, { stale: true });
        await flags.updateFlag(CHECKOUT, { stale: false });
        await flags.archiveFlag(CHECKOUT);
        await flags.reviveFlag({ flag: 'checkout' });
        await flags.archiveFlag(CHECKOUT);
        await flags.deleteFlag({ flag: 'checkout' });
      });
    });
  });

  describe('the document of all names of segments', () => {
    it('has its own advice when it is full', () => {
      const refusal = documentTooLarge(REGISTRY, { kind: 'segment-registry', id: 'all' }, { bytes: MIB + 1 });
      expect(String(refusal)).toContain('delete segments, or choose shorter names');
    });
  });
});

/** Measures the processor time of the longest turn of the event loop, in milliseconds. */
function watchTurns() {
  let longest = 0;
  let started = processorTime();
  let isWatching = true;
  const watch = () => {
    longest = Math.max(longest, processorTime() - started);
    started = processorTime();
    if (isWatching) setImmediate(watch);
  };
  setImmediate(watch);
  return {
    stop() {
      isWatching = false;
      return Math.max(longest, processorTime() - started);
    },
  };
}

/** Patterns that a change may write, and those that are too long when their repetitions are written out. */
const WITHIN = ['a{50}', '(?:ab{5}){10}', '^\\p{L}{1,50}$', '^[a-z]{1,50}@[a-z]{1,50}\\.[a-z]{2,20}$', 'a'.repeat(250)];
const BEYOND = [
  '(?:abcdef){50}',
  'a{50}b{50}c{50}d{50}e{50}f',
  '(?:.*.*.*){0,50}',
  '\\pL|'.repeat(20),
  '[a-\\x{1e943}]{2}[a-z]{40}',
];

onEveryStorage((start) => {
  describe('the patterns of a flag', () => {
    const matching = (value: string): Constraint => ({ contextName: 'userId', operator: 'REGEX', value });

    it('are bounded with their repetitions written out', async () => {
      const flags = await start(SILENT);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      for (const value of WITHIN) {
        await flags.addStrategy(PRODUCTION, { name: 'default', constraints: [matching(value)] });
      }
      for (const value of BEYOND) {
        const constraints = [matching('a'), matching(value)];
        const { details } = await expectRefusal(flags, 'invalid_input', () =>
          flags.addStrategy(PRODUCTION, { name: 'default', constraints }),
        );
        expect([value, details]).toEqual([
          value,
          [{ path: '/constraints/1/value', message: expect.stringContaining('with its repetitions written out') }],
        ]);
        await expectRefusal(flags, 'invalid_input', () => flags.segments.create({ name: 'beta', constraints }));
      }
    });
  });
});

/** Three of them fit into the limit of an evaluation, four do not. */
const HEAVY: Constraint = {
  contextName: 'userId',
  operator: 'STR_CONTAINS',
  values: Array.from({ length: 320 }, (_, index) => `${'x'.repeat(65)}${index}`),
};

function heavy(count: number, more: Partial<StrategyInput<string>> = {}): StrategyInput<string> {
  return { name: 'default', constraints: Array.from({ length: count }, () => HEAVY), ...more };
}

onEveryStorage((start) => {
  describe('the cost of an evaluation', () => {
    async function startWithCheckout() {
      const flags = await start(SILENT);
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      return flags;
    }

    it('limits the constraints of a strategy, and names the first one above the limit', async () => {
      const flags = await startWithCheckout();
      const { message, details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.addStrategy(PRODUCTION, heavy(5)),
      );
      expect(message).toContain('search for fewer texts');
      expect(details).toEqual([expect.objectContaining({ path: '/constraints/3' })]);
      await flags.addStrategy(PRODUCTION, heavy(3));
      await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(DEVELOPMENT, heavy(4)));
    });

    it('limits the strategies of a flag together, in each environment', async () => {
      const flags = await startWithCheckout();
      await flags.addStrategy(PRODUCTION, heavy(2));
      const { id: strategy } = await flags.addStrategy(PRODUCTION, heavy(1));
      const place = { ...PRODUCTION, strategy };
      const { message } = await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, heavy(1)));
      expect(message).toContain('the strategies in production');
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(place, heavy(2)));
      const strategies = [heavy(2), heavy(2)];
      const { details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.configureEnvironment(PRODUCTION, { enabled: true, strategies }),
      );
      expect(details).toEqual([expect.objectContaining({ path: '/strategies/1/constraints/1' })]);
      await flags.updateStrategy(place, heavy(1, { title: 'the same' }));
      await flags.updateStrategy(place, heavy(2, { disabled: true }));
      await expectRefusal(flags, 'invalid_input', () => flags.updateStrategy(place, heavy(2, { disabled: false })));
      await flags.addStrategy(DEVELOPMENT, heavy(3));
      expect((await flags.getFlag(CHECKOUT)).environments.map(({ strategies }) => strategies.length)).toEqual([1, 2]);
    });

    it('counts segments, also when they change', async () => {
      const flags = await startWithCheckout();
      const { constraints = [] } = heavy(2);
      const one = await flags.segments.create({ name: 'one', constraints });
      const other = await flags.segments.create({ name: 'other', constraints });
      const using = { name: 'default', segments: [one.id, other.id] };
      const added = await expectRefusal(flags, 'invalid_input', () => flags.addStrategy(PRODUCTION, using));
      expect(added.details).toEqual([expect.objectContaining({ path: '/segments/1' })]);
      await flags.segments.update({ segment: other.id }, { constraints: [HEAVY] });
      await flags.addStrategy(PRODUCTION, using);
      const { message, details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.segments.update({ segment: other.id }, { constraints }),
      );
      expect(message).toContain('the strategies of checkout in production, which use this segment');
      expect(details).toEqual([expect.objectContaining({ path: '/constraints' })]);
      const large = { name: 'heavy', constraints: heavy(4).constraints ?? [] };
      const created = await expectRefusal(flags, 'invalid_input', () => flags.segments.create(large));
      expect(created.details).toEqual([expect.objectContaining({ path: '/constraints/3' })]);
    });

    it('is limited in imports, too', async () => {
      const flags = await startWithCheckout();
      const environments = { production: { strategies: [heavy(2), heavy(2)] } };
      const { details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.definitions.import({ version: 1, flags: [{ name: 'many', environments }] }),
      );
      expect(details.map(({ path }) => path)).toEqual(['/flags/0/environments/production/strategies/1/constraints/1']);
    });
  });
});

describe('unknown members', () => {
  const DEPTH = 200_000;
  /** Nested too deeply for recursive functions such as `JSON.stringify`. */
  const unknown = { unknown: JSON.parse('['.repeat(DEPTH) + ']'.repeat(DEPTH)) as unknown };
  const project = { project: 'default' };
  const ref = { ...project, flag: 'checkout' };
  const environment = { ...ref, environment: 'production' };

  onEveryStorage((start) => {
    it('ignores unknown members of a strategy, however deep they are', async () => {
      const flags = await start();
      await flags.createFlag(project, { name: 'checkout' });
      const input: StrategyInput<string> = { name: 'default', ...unknown };
      const added = await flags.addStrategy(environment, input);
      expect(added).not.toHaveProperty('unknown');
      const updated = await flags.updateStrategy({ ...environment, strategy: added.id }, { ...input, title: 'all' });
      expect(updated).toEqual({ ...added, title: 'all' });
    });

    it('ignores unknown members of a segment, however deep they are', async () => {
      const flags = await start();
      const constraints: SegmentChanges['constraints'] = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];
      const created = await flags.segments.create({ name: 'beta', constraints: [], ...unknown });
      expect(created).not.toHaveProperty('unknown');
      const updated = await flags.segments.update({ segment: created.id }, { constraints, ...unknown });
      expect(updated).toMatchObject({ name: 'beta', constraints });
    });

    it('ignores unknown members of a dependency, however deep they are', async () => {
      const flags = await start();
      await flags.createFlag(project, { name: 'checkout' });
      await flags.createFlag(project, { name: 'payments' });
      const dependency = await flags.addDependency(ref, { flag: 'payments', ...unknown });
      expect(dependency).toEqual({ flag: 'payments', enabled: true, variants: [] });
    });
  });

  describe('regular expressions that compile slowly', () => {
    const matching = (value: string) => ({ contextName: 'userId', operator: 'REGEX', value }) as const;
    const adding = (count: number, pattern: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => {
        const input = { name: 'default', disabled: true, constraints: [matching(pattern(index))] } as const;
        return { op: 'addStrategy', ref: PRODUCTION, input } as const;
      });

    async function withCheckout(): Promise<Flags> {
      const flags = await openFlags({ storage: memoryStorage(), ...SILENT });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      return flags;
    }

    /** The processor time of a refusal, which compiles nothing. */
    async function expectQuickRefusal(attempt: () => Promise<unknown>, path: string): Promise<void> {
      const before = process.cpuUsage();
      const { code, details } = await refusalOf(attempt());
      const { user, system } = process.cpuUsage(before);
      expect(code).toBe('invalid_input');
      expect(details[0]?.path).toBe(path);
      expect(user + system).toBeLessThan(500_000);
    }

    it.each([
      ['a'.repeat(251), 'too long'],
      ['a{51}', 'repeated too often'],
      ['(?:a{7}|b){8}', 'repeated too often'],
    ])('are refused beyond the bound: %s', async (pattern) => {
      const flags = await withCheckout();
      await expectQuickRefusal(() => flags.plan(adding(1, () => pattern)), '/changes/0/input/constraints/0/value');
    });

    it('are refused if a flag would have more than 20 with its segments', async () => {
      const flags = await withCheckout();
      const few = (count: number) => Array.from({ length: count }, (_, n) => matching(`^${n}$`));
      await flags.addStrategy(DEVELOPMENT, { name: 'default', constraints: few(8) });
      const { id } = await flags.segments.create({ name: 'a', constraints: few(10) });
      const { id: strategy } = await flags.addStrategy(PRODUCTION, { name: 'default', segments: [id] });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [id], constraints: few(2) });
      const attempts = [
        () => flags.addStrategy(PRODUCTION, { name: 'default', constraints: few(1) }),
        () =>
          flags.updateStrategy({ ...PRODUCTION, strategy }, { name: 'default', constraints: few(1), segments: [id] }),
        () => flags.segments.update({ segment: id }, { constraints: few(11) }),
        () => flags.segments.create({ name: 'b', constraints: few(21) }),
      ];
      for (const attempt of attempts) {
        const { message } = await expectRefusal(flags, 'invalid_input', attempt);
        expect(message).toContain('21 regular expressions');
        expect(message).toContain('at most 20');
      }
    });

    it('are counted before any is read: 2,000 in one dry import hold up nothing', async () => {
      const flags = await withCheckout();
      const pattern = (n: number) => `^(?:[a-z]${n}|\\pL[0-9]{2,9})${'x?'.repeat(80)}$`;
      const strategies = Array.from({ length: 20 }, (_, at) => ({
        name: 'default',
        constraints: Array.from({ length: 100 }, (_, n) => matching(pattern(at * 100 + n))),
      }));
      const document = { version: 1, flags: [{ name: 'many', environments: { production: { strategies } } }] } as const;
      const stalls: number[] = [];
      for (let round = 0; round < 3; round++) {
        const turns = watchTurns();
        const { code, details } = await refusalOf(flags.definitions.import(document, { dryRun: true }));
        stalls.push(turns.stop());
        expect([code, details.map(({ path }) => path)]).toEqual(['invalid_input', ['/flags/0']]);
      }
      expect(Math.min(...stalls)).toBeLessThan(100);
    });

    it.each([
      ['Unicode classes in brackets', `(?i)[${String.raw`\pL`.repeat(80)}]`],
      ['long ranges', `(?i)${'[A-\uffff]'.repeat(24)}`],
      ['alternatives of Unicode classes', String.raw`\pL|`.repeat(60)],
    ])('are refused one by one: %s', async (_, pattern) => {
      const flags = await withCheckout();
      const constraints = [matching(pattern)];
      await expectQuickRefusal(
        () => flags.addStrategy(PRODUCTION, { name: 'default', constraints }),
        '/constraints/0/value',
      );
      await expectQuickRefusal(() => flags.segments.create({ name: 'a', constraints }), '/constraints/0/value');
    });

    it.each([
      String.raw`^[\pL\pN_-]{1,40}$`,
      String.raw`(?i)^\p{Lu}\p{L}{1,50}$`,
      '(?i)[à-ÿ]+@[a-z0-9.-]+',
      '(?i)[A-\uffff]{1,20}',
    ])('does not refuse %s', async (pattern) => {
      const flags = await withCheckout();
      const constraints = [matching(pattern)];
      await flags.addStrategy(PRODUCTION, { name: 'default', constraints });
      await flags.segments.create({ name: 'a', constraints });
    });

    it('lists the first ten invalid patterns', async () => {
      const flags = await withCheckout();
      const constraints = Array.from({ length: 20 }, (_, n) => matching(`(${n}`));
      const { details } = await refusalOf(flags.addStrategy(PRODUCTION, { name: 'default', constraints }));
      expect(details.map(({ path }) => path)).toEqual(Array.from({ length: 10 }, (_, n) => `/constraints/${n}/value`));
    });
  });
});
