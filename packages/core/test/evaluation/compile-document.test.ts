import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { patterns } from '../../src/evaluate/patterns.js';
import { type CompileSyncOptions, compile, compileSync, type EvaluationProblem } from '../../src/evaluate.js';
import { CONSTRAINT_OPERATORS } from '../../src/index.js';
import { refusalOf } from '../refusal.js';

interface Specification {
  readonly CASES: number;
  readonly evaluateSpecification: (
    entries: object,
    files: readonly object[],
  ) => Promise<{ readonly evaluated: number; readonly failures: readonly string[] }>;
}

const { CASES, evaluateSpecification } = require('../../../../test/runtimes/specification.cjs') as Specification;

function readFiles(): readonly object[] {
  const folder = join(dirname(require.resolve('@unleash/client-specification/package.json')), 'specifications');
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return (read('index.json') as string[]).map(read);
}

function documentWith(constraint: object, flag: object = {}): object {
  const strategies = [{ name: 'default', constraints: [constraint] }];
  return { version: 2, features: [{ name: 'checkout', enabled: true, strategies, ...flag }], segments: [] };
}

const PATTERN = { contextName: 'email', operator: 'REGEX', value: '^(a+)+$' };
const PLAIN = documentWith({ contextName: 'userId', operator: 'IN', values: ['7'] });

it('has the expected results of the public client specification', async () => {
  const result = await evaluateSpecification({ compile, compileSync, patterns }, readFiles());
  expect(result.failures).toEqual([]);
  expect(result.evaluated).toBe(CASES);
});

describe('a compiled document', () => {
  it('evaluates at once, and explains why', async () => {
    const flags = await compile(PLAIN);
    expect([flags.isEnabled('checkout', { userId: '7' }), flags.isEnabled('checkout', { userId: '8' })]).toEqual([
      true,
      false,
    ]);
    expect(flags.getVariant('checkout', { userId: '7' })).toEqual({
      name: 'disabled',
      enabled: false,
      flagEnabled: true,
    });
    const explanation = flags.explain('checkout', { userId: '8' });
    expect(explanation).toMatchObject({ enabled: false, reason: 'no_strategy_holds' });
    expect(Object.isFrozen(explanation.strategies)).toBe(true);
  });

  it('returns the fallback for unknown flags', async () => {
    const flags = await compile({ features: [] });
    const fallback = { name: 'red', enabled: true };
    expect(flags.isEnabled('unknown')).toBe(false);
    expect(flags.isEnabled('unknown', {}, { fallback: true })).toBe(true);
    expect(flags.getVariant('unknown', {}, { fallback })).toEqual({ ...fallback, flagEnabled: false });
    expect(flags.explain('unknown').reason).toBe('unknown_flag');
  });

  it('keeps its results when the document changes', async () => {
    const document = structuredClone(PLAIN) as {
      features: { strategies: { constraints: { values: string[] }[] }[] }[];
    };
    const flags = await compile(document);
    document.features[0]?.strategies[0]?.constraints[0]?.values.push('8');
    document.features.pop();
    expect([flags.isEnabled('checkout', { userId: '7' }), flags.isEnabled('checkout', { userId: '8' })]).toEqual([
      true,
      false,
    ]);
  });

  it('takes strategies, time, chance and a host name from the options', async () => {
    const strategies = [
      { name: 'beta', constraints: [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2030-01-01' }] },
    ];
    const random = { name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'random', groupId: 'a' } };
    const host = { name: 'applicationHostname', parameters: { hostNames: 'web-1' } };
    const document = {
      features: [
        { name: 'own', enabled: true, strategies },
        { name: 'random', enabled: true, strategies: [random] },
        { name: 'host', enabled: true, strategies: [host] },
      ],
    };
    const at = (year: number, share: number, hostname: string) =>
      compileSync(document, {
        strategies: [{ name: 'beta', isEnabled: () => true }],
        now: () => new Date(Date.UTC(year, 5)),
        random: () => share,
        hostname,
      });
    const answers = (flags: ReturnType<typeof compileSync>) =>
      ['own', 'random', 'host'].map((name) => flags.isEnabled(name));
    expect(answers(at(2031, 0.1, 'web-1'))).toEqual([true, true, true]);
    expect(answers(at(2029, 0.9, 'web-2'))).toEqual([false, false, false]);
  });

  it('counts a context value of more than 4,096 characters as absent, and reports it', async () => {
    const problems: EvaluationProblem[] = [];
    const flags = await compile(documentWith({ contextName: 'userId', operator: 'STR_CONTAINS', values: ['a'] }), {
      onProblem: (problem) => problems.push(problem),
    });
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(4_096) })).toBe(true);
    expect(flags.isEnabled('checkout', { userId: 'a'.repeat(4_097) })).toBe(false);
    expect(problems.map(({ code }) => code)).toEqual(['context_value_too_long']);
  });

  it('skips strategies that are too costly, and reports them', async () => {
    const problems: EvaluationProblem[] = [];
    const constraints = Array.from({ length: 21 }, () => ({ contextName: 'email', operator: 'REGEX', value: 'a' }));
    const flags = await compile(documentWith(PATTERN, { strategies: [{ name: 'default', constraints }] }), {
      onProblem: (problem) => problems.push(problem),
    });
    expect(flags.isEnabled('checkout', { properties: { email: 'a' } })).toBe(false);
    expect(problems.map(({ code }) => code)).toEqual(['too_costly']);
  });

  it('is off for a flag that cannot be read, which is reported', async () => {
    const problems: EvaluationProblem[] = [];
    const features = [null, {}, { name: 'broken', enabled: 'yes' }, { name: 'good', enabled: true, strategies: [] }];
    const flags = await compile({ features }, { onProblem: (problem) => problems.push(problem) });
    expect([flags.isEnabled('broken'), flags.isEnabled('good')]).toEqual([false, true]);
    expect(problems.map(({ code, flag }) => [code, flag])).toEqual([
      ['broken_flag', undefined],
      ['broken_flag', undefined],
      ['broken_flag', 'broken'],
    ]);
  });
});

describe('a document with a regular expression', () => {
  const MATCHES = { properties: { email: 'aaa' } };

  it('is compiled with RE2, which takes linear time', async () => {
    const flags = await compile(documentWith(PATTERN));
    expect(flags.isEnabled('checkout', MATCHES)).toBe(true);
    // The built-in engine would take minutes.
    expect(flags.isEnabled('checkout', { properties: { email: `${'a'.repeat(60)}b` } })).toBe(false);
    expect(flags.isEnabled('checkout', { properties: { email: 'a'.repeat(501) } })).toBe(false);
  });

  it.each([
    ['a strategy', documentWith(PATTERN)],
    [
      'a disabled strategy',
      documentWith(PATTERN, { strategies: [{ name: 'x', disabled: true, constraints: [PATTERN] }] }),
    ],
    ['a flag that is off', documentWith(PATTERN, { enabled: false })],
    ['a segment', { features: [], segments: [{ id: 1, constraints: [PATTERN] }] }],
  ])('in %s needs patterns at once', (_, document) => {
    expect(() => compileSync(document)).toThrow(
      'The document has a regular expression: pass { patterns } of @flags/core/evaluate/patterns, or await compile(…).',
    );
    expect(compileSync(document, { patterns })).toBeDefined();
  });

  it('needs no patterns for any other operator', () => {
    for (const operator of CONSTRAINT_OPERATORS.filter((name) => name !== 'REGEX')) {
      expect(compileSync(documentWith({ contextName: 'userId', operator, value: '1', values: ['1'] }))).toBeDefined();
    }
  });
});

describe('refused', () => {
  const DOCUMENT = 'The input is not valid: must be an object, the reply of /api/client/features.';

  it.each<[unknown, string]>([
    [undefined, DOCUMENT],
    [null, DOCUMENT],
    ['{"features":[]}', DOCUMENT],
    [[], DOCUMENT],
    [{}, 'The input is not valid: /features must be a list.'],
    [{ features: {} }, 'The input is not valid: /features must be a list.'],
    [{ features: [], segments: 'all' }, 'The input is not valid: /segments must be a list.'],
  ])('the document %j', async (document, message) => {
    await expect(compile(document)).rejects.toMatchObject({ code: 'invalid_input', message });
    expect(() => compileSync(document)).toThrow(message);
  });

  it.each<[object | null, string]>([
    [null, 'The input is not valid: the options of compileSync must be an object.'],
    [{ pattern: patterns }, 'The input is not valid: compileSync has no option pattern; did you mean patterns?'],
    [{ patterns: RegExp }, 'The input is not valid: /patterns must be the export of @flags/core/evaluate/patterns.'],
    [{ patterns: null }, 'The input is not valid: /patterns must be the export of @flags/core/evaluate/patterns.'],
  ])('the options %j', (options, message) => {
    expect(() => compileSync(PLAIN, options as CompileSyncOptions)).toThrow(message);
  });

  it('the option patterns of compile, which loads them itself', async () => {
    const { message } = await refusalOf(compile(PLAIN, { patterns } as object));
    expect(message).toMatch(/^The input is not valid: compile has no option patterns/);
  });
});
