import fc from 'fast-check';
import { extent } from '../../../../test/extent.js';
import { name as nameSchema, possiblyEmptyText, text } from '../../src/base/primitives.js';
import { CONSTRAINT_OPERATORS } from '../../src/evaluation/operators.js';
import { validatorOf } from './compile.js';
import { validate } from './default-validators.js';
import { faultsOf, pathsOf } from './issues.js';

describe('a constraint', () => {
  function constrained(constraint: unknown): unknown {
    return { name: 'default', constraints: [{ contextName: 'x', operator: 'IN', values: ['a'] }, constraint] };
  }

  const LISTS = ['IN', 'NOT_IN', 'STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'];
  const NUMBERS = ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'];
  const DATES = ['DATE_AFTER', 'DATE_BEFORE'];
  const VERSIONS = ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'];
  const SINGLE: readonly (readonly [string, string, string])[] = [
    ...NUMBERS.map((operator) => [operator, '-1.5e3', 'many'] as const),
    ...NUMBERS.map((operator) => [operator, '0', '1e400'] as const),
    ...DATES.map((operator) => [operator, '2026-03-01T12:00:00+01:00', '2026-02-30'] as const),
    ...VERSIONS.map((operator) => [operator, '1.2.3-rc.1', '1.2'] as const),
  ];

  it('has one of the known operators, each with rules of its own', () => {
    expect([...LISTS, ...NUMBERS, ...DATES, ...VERSIONS, 'REGEX', 'IN_CIDR'].toSorted()).toEqual(
      [...CONSTRAINT_OPERATORS].toSorted(),
    );
    expect(faultsOf(validate.strategy, constrained({ contextName: 'x', operator: 'in', values: [] }))).toEqual([
      { message: `must be one of ${CONSTRAINT_OPERATORS.join(', ')}`, path: '/constraints/1/operator' },
    ]);
  });

  it.each(LISTS)('accepts a list for %s', (operator) => {
    const constraint = { contextName: 'x', operator };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['a', ' '] }))).toEqual([]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['', 'a', ''] }))).toEqual([
      { message: 'must not be empty', path: '/constraints/1/values/0' },
      { message: 'must not be empty', path: '/constraints/1/values/2' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [] }))).toEqual([
      { message: 'must have at least one value', path: '/constraints/1/values' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: 'a' }))).toEqual([
      { message: `is required for ${operator}`, path: '/constraints/1/values' },
    ]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, values: ['a', 7] }))).toEqual([
      '/constraints/1/values/1',
    ]);
  });

  it.each(SINGLE)('accepts one fitting value for %s, such as %s, not %s', (operator, fitting, unfitting) => {
    const constraint = { contextName: 'x', operator };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: fitting }))).toEqual([]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: unfitting }))).toEqual([
      '/constraints/1/value',
    ]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: '' }))).toEqual(['/constraints/1/value']);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, value: 7 }))).toEqual(['/constraints/1/value']);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [fitting] }))).toEqual([
      { message: `is required for ${operator}`, path: '/constraints/1/value' },
    ]);
  });

  it('accepts a date or a time with an offset for expiresAt', () => {
    const token = { name: 't', kind: 'admin' };
    for (const expiresAt of ['2030-05-01', '2030-05-01T09:00Z', '2030-05-01 09:00:00+0200', null]) {
      expect(faultsOf(validate.newToken, { ...token, expiresAt })).toEqual([]);
      expect(faultsOf(validate.tokenChanges, { expiresAt })).toEqual([]);
    }
    for (const expiresAt of ['2030-05-01T09:00:00', '2030-05-01 09:00']) {
      const fault = { message: expect.stringContaining('a time with Z or an offset'), path: '/expiresAt' };
      expect(faultsOf(validate.newToken, { ...token, expiresAt })).toEqual([fault]);
      expect(faultsOf(validate.tokenChanges, { expiresAt })).toEqual([fault]);
      expect(faultsOf(validate.tokenRotation, { expiresAt })).toEqual([fault]);
    }
  });

  it('accepts a pattern for REGEX', () => {
    const constraint = { contextName: 'x', operator: 'REGEX' };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: '^a+$' }))).toEqual([]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['a'] }))).toEqual([
      { message: 'is required for REGEX', path: '/constraints/1/value' },
    ]);
  });

  it('accepts addresses and networks for IN_CIDR, and reports each invalid one', () => {
    const constraint = { contextName: 'x', operator: 'IN_CIDR' };
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: ['10.0.0.0/8', '::1'] }))).toEqual([]);
    expect(pathsOf(validate.strategy, constrained({ ...constraint, values: ['here', '::1', '10.0.0.0/33'] }))).toEqual([
      '/constraints/1/values/0',
      '/constraints/1/values/2',
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, values: [] }))).toEqual([
      { message: 'must have at least one value', path: '/constraints/1/values' },
    ]);
    expect(faultsOf(validate.strategy, constrained({ ...constraint, value: '::1' }))).toEqual([
      { message: 'is required for IN_CIDR', path: '/constraints/1/values' },
    ]);
  });

  it.each<[string, object, string]>([
    ['no context field', { operator: 'IN', values: ['a'] }, '/constraints/1/contextName'],
    ['an empty context field', { contextName: '', operator: 'IN', values: ['a'] }, '/constraints/1/contextName'],
    ['no operator', { contextName: 'x', values: ['a'] }, '/constraints/1/operator'],
    ['an unknown member', { contextName: 'x', operator: 'IN', values: ['a'], extra: 1 }, '/constraints/1/extra'],
    [
      'inverted as text',
      { contextName: 'x', operator: 'IN', values: ['a'], inverted: 'true' },
      '/constraints/1/inverted',
    ],
    ['null', { contextName: 'x', operator: 'IN', values: null }, '/constraints/1/values'],
  ])('is refused for %s', (_, constraint, path) => {
    expect(pathsOf(validate.strategy, constrained(constraint))).toEqual([path]);
  });
});

type Case = readonly [unknown, readonly string[]];

const report = {
  application: 'web',
  start: '2026-03-01T12:00:00Z',
  stop: '2026-03-01T12:01:00Z',
  counts: { a: { yes: 1, no: 0 } },
};
const registration = { application: 'web', strategies: ['default'] };

/** Inputs by their validator, each with the paths of its issues. */
const CASES: { readonly [Key in keyof typeof validate]?: readonly Case[] } = {
  newFlag: [
    [{ name: 'a' }, []],
    [{ name: 'a', description: null, type: 'kill-switch', impressionData: true, archived: 'ignored' }, []],
    [{}, ['/name']],
    [{ name: 'a', description: 7, type: 'other', impressionData: 'no' }, ['/description', '/type', '/impressionData']],
  ],
  flagChanges: [
    [{}, []],
    [{ name: 7, project: 7, description: '', type: 'permission', stale: true, impressionData: false }, []],
    [{ stale: null, type: null }, ['/type', '/stale']],
  ],
  clone: [
    [{ name: 'copy' }, []],
    [{ name: '..' }, ['/name']],
    [{}, ['/name']],
  ],
  member: [
    [{ userId: 1, roleId: 4, projectId: 'ignored' }, []],
    [{ userId: 0, roleId: 1.5 }, ['/userId', '/roleId']],
    [{ userId: '1', roleId: 2 ** 53 }, ['/userId', '/roleId']],
    [{}, ['/userId', '/roleId']],
  ],
  newProject: [
    [{ id: '__proto__', name: 'A name', description: '' }, []],
    [{ id: 'a b', name: '', description: 'd'.repeat(1001) }, ['/id', '/name', '/description']],
    [{ name: 'n'.repeat(101) }, ['/id', '/name']],
  ],
  projectChanges: [
    [{}, []],
    [{ name: 'n'.repeat(100), description: 'd'.repeat(1000), id: 7 }, []],
    [{ name: null, description: null }, ['/name', '/description']],
  ],
  registration: [
    [registration, []],
    [{ ...registration, sdkVersion: '', color: null, platformName: 'ignored' }, []],
    [{}, ['/application', '/strategies']],
    [{ ...registration, url: null, strategies: [''] }, ['/url', '/strategies/0']],
    [{ ...registration, application: '', instance: 'i'.repeat(256) }, ['/application', '/instance']],
  ],
  metricsReport: [
    [report, []],
    [{ ...report, counts: {} }, []],
    [{ ...report, stop: report.start }, []],
    [{ ...report, stop: '2026-03-01T11:59:59.999Z' }, ['/stop']],
    [{ application: 'web' }, ['/start', '/stop', '/counts']],
    [{ ...report, counts: { 'a/b': { yes: -1 } } }, ['/counts/a~1b/no', '/counts/a~1b/yes']],
    [{ ...report, counts: JSON.parse('{"__proto__":7}') }, ['/counts/__proto__']],
    [{ ...report, counts: { a: { yes: 0.5, no: 2 ** 53 } } }, ['/counts/a/yes', '/counts/a/no']],
  ],
  newToken: [
    [{ name: 't', kind: 'admin' }, []],
    [{ name: 't', kind: 'admin', project: '*', environment: '*', expiresAt: null, secret: '!~'.repeat(16) }, []],
    [{ name: 't', kind: 'client', environment: 'production', expiresAt: '2026-03-01' }, []],
    [{ name: 't', kind: 'client', projects: ['p', '*'] }, []],
    [{ name: 't', kind: 'client' }, []],
    [{ name: 'System', kind: 'client' }, ['/name']],
    [{ name: 't', kind: 'admin', projects: ['p'] }, ['/projects']],
    [{ name: 't', kind: 'client', projects: [] }, ['/projects']],
    [{ name: 't', kind: 'frontend', environment: '*' }, ['/environment']],
    [{ name: 't', kind: 'admin', project: 'p', environment: 'e' }, ['/project', '/environment']],
    [{ name: 't', kind: 'root' }, ['/kind']],
    [{ name: 't', kind: 'admin', secret: `a b${'x'.repeat(32)}` }, ['/secret']],
    [{ name: 't', kind: 'admin', secret: 'x'.repeat(31) }, ['/secret']],
    [{ name: 't', kind: 'admin', expiresAt: 'tomorrow' }, ['/expiresAt']],
  ],
  eventQuery: [
    [{}, []],
    [{ project: 'p', flag: 'f', type: 'flag-created', from: '2026-03-01', to: '2026-03-02', limit: 0, offset: 5 }, []],
    [{ type: 'feature-created', from: '1', limit: 1001, offset: -1 }, ['/type', '/from', '/limit', '/offset']],
    [{ limit: '5' }, ['/limit']],
  ],
};

describe.each(Object.entries(CASES))('%s', (name, cases) => {
  it.each(cases)('has the issues of %j at %j', (input, paths) => {
    const validator = validate[name as keyof typeof validate];
    expect([...pathsOf(validator, input)].toSorted()).toEqual([...paths].toSorted());
  });

  it.each([null, undefined, 7, 'text', true])('rejects %j', (input) => {
    expect(faultsOf(validate[name as keyof typeof validate], input)).toHaveLength(1);
  });
});

describe('names and text', () => {
  function isAccepted(schema: Parameters<typeof validatorOf>[0], input: unknown): boolean {
    return faultsOf(validatorOf(schema), input).length === 0;
  }

  /** The rule in the words of the contract. */
  function isName(text: string): boolean {
    try {
      return (
        text.length >= 1 && text.length <= 100 && encodeURIComponent(text) === text && text !== '.' && text !== '..'
      );
    } catch {
      return false;
    }
  }

  const validate = validatorOf(nameSchema);

  describe('names', () => {
    it('may have the characters that a URL does not escape, except for . and ..', () => {
      const mostlyName = fc.string({ unit: fc.constantFrom(..."aZ09-_.!~*'()", ' ', '%', '/', 'é'), maxLength: 5 });
      const longName = fc.nat({ max: 110 }).map((length) => 'n'.repeat(length));
      const anyText = fc.array(fc.nat(0xffff), { maxLength: 4 }).map((codes) => String.fromCharCode(...codes));
      fc.assert(
        fc.property(fc.oneof(mostlyName, longName, anyText), (candidate) => {
          expect(faultsOf(validate, candidate).length === 0).toBe(isName(candidate));
        }),
        { numRuns: extent({ short: 300, full: 5_000 }) },
      );
    });

    it('may contain every character below U+0180 that a URL keeps, and no other', () => {
      const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
      const accepted = characters.filter((character) => faultsOf(validate, `a${character}`).length === 0);
      expect(accepted).toEqual(characters.filter((character) => isName(`a${character}`)));
    });

    it.each(['.', '..', '', 'n'.repeat(101), 'a\n', '\ud800', 7, null])('do not include %j', (input) => {
      expect(faultsOf(validate, input)).not.toEqual([]);
    });

    it.each(['...', '.a', '__proto__', 'constructor', 'n'.repeat(100)])('include %s', (input) => {
      expect(faultsOf(validate, input)).toEqual([]);
    });
  });

  describe('text', () => {
    it('is counted in characters, and has no unpaired surrogates', () => {
      expect(isAccepted(text(2), '😀😀')).toBe(true);
      expect(isAccepted(text(2), '😀😀😀')).toBe(false);
      expect(isAccepted(text(2), '\ud83d')).toBe(false);
      expect(isAccepted(text(2), '\ude00\ud83d')).toBe(false);
      expect(isAccepted(text(9), 'a\nb\u0000')).toBe(true);
    });

    it('may be empty only where the schema permits', () => {
      expect(isAccepted(text(2), '')).toBe(false);
      expect(isAccepted(possiblyEmptyText(2), '')).toBe(true);
    });
  });
});

describe('a strategy', () => {
  it.each([
    { name: 'default' },
    { name: 'one of the client’s own' },
    { name: 'n'.repeat(100), parameters: null },
    { name: 'default', parameters: { text: '', number: 1.5, boolean: false, nothing: null } },
    { name: 'default', title: '', disabled: true, sortOrder: -1, segments: [1], constraints: [] },
    { name: 'default', unheardOf: { anything: [] } },
    { name: 'default', parameters: { rollout: 'half' } },
    { name: 'default', parameters: JSON.parse('{"__proto__":"a","constructor":1}') },
  ])('can be %j', (input) => {
    expect(faultsOf(validate.strategy, input)).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'n'.repeat(101) }, '/name'],
    [{ name: 7 }, '/name'],
    [{ name: 'default', parameters: [] }, '/parameters'],
    [{ name: 'default', parameters: { a: [] } }, '/parameters/a'],
    [{ name: 'default', parameters: { 'a/b': {} } }, '/parameters/a~1b'],
    [{ name: 'default', parameters: JSON.parse('{"__proto__":{}}') }, '/parameters/__proto__'],
    [{ name: 'default', constraints: {} }, '/constraints'],
    [{ name: 'default', disabled: 1 }, '/disabled'],
    [{ name: 'default', sortOrder: 0.5 }, '/sortOrder'],
    [{ name: 'default', segments: ['1'] }, '/segments/0'],
    [{ name: 'default', title: null }, '/title'],
    [{ name: 'default', variants: [{ name: 'a' }, 7] }, '/variants/1'],
  ])('cannot be %j', (input, path) => {
    expect(pathsOf(validate.strategy, input)).toContain(path);
  });

  it.each([0, 100, 33.3, '0', '100', '33.3'])('may have the rollout %j with flexibleRollout', (rollout) => {
    expect(faultsOf(validate.strategy, { name: 'flexibleRollout', parameters: { rollout } })).toEqual([]);
  });

  it.each([-1, 100.1, '-1', '101', 'half', '', '50%', true, null])(
    'may not have the rollout %j with flexibleRollout',
    (rollout) => {
      expect(pathsOf(validate.strategy, { name: 'flexibleRollout', parameters: { rollout } })).toEqual([
        '/parameters/rollout',
      ]);
    },
  );

  it('may have no rollout and no parameters with flexibleRollout', () => {
    for (const parameters of [{}, null, Object.create({ rollout: 'inherited' })]) {
      expect(faultsOf(validate.strategy, { name: 'flexibleRollout', parameters })).toEqual([]);
    }
  });

  it('has variants whose payloads are of their type', () => {
    const variant = { name: 'a', weightType: 'fix', weight: 1000, stickiness: 'default' };
    const payload = { type: 'json', value: '{' };
    expect(pathsOf(validate.strategy, { name: 'default', variants: [variant, { ...variant, payload }] })).toEqual([
      '/variants/1/payload/value',
    ]);
    expect(pathsOf(validate.strategy, { name: 'default', variants: [{ ...variant, overrides: [] }] })).toEqual([
      '/variants/0/overrides',
    ]);
  });
});

describe('a list of variants', () => {
  const FIX = { name: 'fix', weightType: 'fix', weight: 999 };

  it.each([
    [[]],
    [[{ name: 'a' }]],
    [[FIX, { name: 'a' }]],
    [[{ name: 'a', weightType: 'fix', weight: 0 }, { name: 'b' }]],
    [[{ name: '__proto__' }, { name: 'constructor' }]],
    [[{ name: 'a', stickiness: 'userId', overrides: [{ contextName: 'userId', values: [] }] }]],
  ])('can be %j', (input) => {
    expect(faultsOf(validate.variants, input)).toEqual([]);
  });

  it('has a variable variant unless it is empty', () => {
    expect(faultsOf(validate.variants, [FIX])).toEqual([
      { message: 'must have at least one variant of weightType variable', path: '' },
    ]);
  });

  it('has fixed weights that leave a share for its variable variants', () => {
    const fixed = (weight: number, name: string) => ({ name, weightType: 'fix', weight });
    expect(faultsOf(validate.variants, [fixed(500, 'a'), fixed(499, 'b'), { name: 'c' }])).toEqual([]);
    expect(faultsOf(validate.variants, [fixed(500, 'a'), fixed(500, 'b'), { name: 'c', weight: 1 }])).toEqual([
      { message: 'must have fixed weights that add up to less than 1000, not to 1000', path: '' },
    ]);
  });

  it('reports every broken rule once', () => {
    expect(faultsOf(validate.variants, [FIX, FIX, { name: 'bare', weightType: 'fix' }])).toEqual([
      { message: 'is required for a variant of weightType fix', path: '/2/weight' },
      { message: 'must be unique among the variants', path: '/1/name' },
      { message: 'must have at least one variant of weightType variable', path: '' },
      { message: 'must have fixed weights that add up to less than 1000, not to 1998', path: '' },
    ]);
  });

  it.each<[unknown, string]>([
    [{ name: 'a', extra: 1 }, '/0/extra'],
    [{ name: 'a', payload: { type: 'string', value: '', extra: 1 } }, '/0/payload/extra'],
    [{ name: 'a', payload: { type: 'string' } }, '/0/payload/value'],
    [{ name: 'a', payload: { type: 'xml', value: '' } }, '/0/payload/type'],
    [{ name: 'a', payload: null }, '/0/payload'],
    [{ name: 'a', overrides: [{ contextName: 'u', values: [], extra: 1 }] }, '/0/overrides/0/extra'],
    [{ name: 'a', overrides: [{ contextName: 'u', values: [7] }] }, '/0/overrides/0/values/0'],
    [{ name: 'a', weight: 1001 }, '/0/weight'],
    [{ name: 'a', weight: 0.5 }, '/0/weight'],
    [{ name: 'a', weight: '5' }, '/0/weight'],
    [{ name: 'a', weightType: 'other' }, '/0/weightType'],
    [{ name: 'a b' }, '/0/name'],
    [{ name: 'a', stickiness: '' }, '/0/stickiness'],
    [{}, '/0/name'],
    [null, '/0'],
  ])('cannot contain %j', (variant, path) => {
    expect(pathsOf(validate.variants, [variant, { name: 'other' }])).toEqual([path]);
  });

  it.each<[string, string]>([
    ['string', ''],
    ['csv', 'a,b\n"'],
    ['json', '{"a":[1,null]}'],
    ['json', '"text"'],
    ['number', '-1.5e3'],
  ])('can carry the %s %j', (type, value) => {
    expect(faultsOf(validate.variants, [{ name: 'a', payload: { type, value } }])).toEqual([]);
  });

  it.each<[string, string]>([
    ['json', ''],
    ['json', '{'],
    ['json', '{a:1}'],
    ['json', 'undefined'],
    ['number', ''],
    ['number', '1,5'],
    ['number', 'NaN'],
    ['number', '1e999'],
  ])('cannot carry the %s %j', (type, value) => {
    expect(pathsOf(validate.variants, [{ name: 'a', payload: { type, value } }])).toEqual(['/0/payload/value']);
  });
});
