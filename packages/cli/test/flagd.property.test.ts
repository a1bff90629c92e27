import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { FlagdCore } from '@openfeature/flagd-core';
import fc from 'fast-check';
import { extent } from '../../../test/extent.js';
import { flagd } from '../src/importers/flagd.js';
import { Report } from '../src/importers/importer.js';
import { leaveOutRefused } from '../src/importers/left-out.js';

jest.setTimeout(extent({ short: 120_000, full: 900_000 }));

/*
 * flagd's own evaluation is the reference: an imported flag has its answer for every context of texts, numbers, booleans
 * and absent fields, or it is left out. An error of flagd is no answer.
 */

const SILENT = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const TARGET = {
  environments: ['production'],
  strategies: [],
  environment: 'production',
  isNamed: false,
  toEnvironment: () => undefined,
};

const FIELDS = ['plan', 'age', 'email', 'targetingKey'] as const;
const TEXTS = [
  'pro',
  'p',
  'free',
  'x@example.org',
  ' DE',
  'DE',
  '5',
  '5.0',
  '1',
  '0',
  '',
  'true',
  'e',
  'v1.3.0',
  '1.2.0',
];
const NUMBERS = [-1, 0, 1, 2, 5, 18, 0.5];

const field = fc.constantFrom(...FIELDS);
const text = fc.constantFrom(...TEXTS);
const number = fc.constantFrom(...NUMBERS);
const usual = fc.constantFrom('pro', 'free', 'x@example.org', 'DE');
const variable = fc.oneof(
  { weight: 24, arbitrary: field.map((name) => ({ var: name })) },
  { weight: 2, arbitrary: field.map((name) => ({ var: [name] })) },
  { weight: 1, arbitrary: field.map((name) => ({ var: [name, 'free'] })) },
  { weight: 1, arbitrary: fc.constantFrom({ var: 'user.plan' }, { var: 'userId' }, { var: '' }, { var: 'roles' }) },
);
const operand = fc.oneof({ weight: 24, arbitrary: usual as fc.Arbitrary<unknown> }, text, number, fc.boolean());

const binary = (operators: readonly string[], right: fc.Arbitrary<unknown>) =>
  fc
    .tuple(fc.constantFrom(...operators), variable, right)
    .map(([operator, one, other]) => ({ [operator]: [one, other] }));

/** The first three are often imported, the others rarely or never. */
const comparison: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: binary(['==', '===', '!=', '!=='], operand) },
  { weight: 6, arbitrary: binary(['in'], fc.array(operand, { minLength: 1, maxLength: 2 })) },
  { weight: 4, arbitrary: binary(['starts_with', 'ends_with'], fc.oneof({ weight: 4, arbitrary: usual }, text)) },
  { weight: 4, arbitrary: binary(['<', '<=', '>', '>='], number) },
  { weight: 2, arbitrary: fc.tuple(operand, variable).map(([one, other]) => ({ '==': [one, other] })) },
  { weight: 1, arbitrary: fc.tuple(text, variable).map(([one, other]) => ({ in: [one, other] })) },
  { weight: 1, arbitrary: variable.map((one) => ({ sem_ver: [one, '>=', '1.2.0'] })) },
);

const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    { weight: 6, arbitrary: comparison },
    { weight: 1, arbitrary: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }).map((all) => ({ and: all })) },
    { weight: 1, arbitrary: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }).map((all) => ({ or: all })) },
    { weight: 1, arbitrary: tie('condition').map((one) => ({ '!': [one] })) },
    { weight: 1, arbitrary: tie('condition').map((one) => ({ '!': one })) },
  ),
}));

function targetingOf(variants: readonly string[]): fc.Arbitrary<unknown> {
  const variant = fc.oneof(
    { weight: 18, arbitrary: fc.constantFrom<unknown>(...variants) },
    fc.constantFrom(null, 'unknown', true),
  );
  const rules = fc.array(fc.tuple(condition, variant), { minLength: 1, maxLength: 2 });
  const chain = fc.tuple(rules, fc.option(variant, { nil: undefined })).map(([pairs, otherwise]) => {
    return { if: [...pairs.flat(), ...(otherwise === undefined ? [] : [otherwise])] };
  });
  const nested = fc.tuple(condition, variant, chain).map(([one, then, otherwise]) => ({ if: [one, then, otherwise] }));
  return fc.oneof(
    { weight: 3, arbitrary: condition },
    { weight: 4, arbitrary: chain },
    { weight: 1, arbitrary: nested },
  );
}

const SWITCH = { true: true, false: false, on: true, off: false };
const COLORS = { red: 'r', green: 'g', true: 't', false: 'f' };

const targeted = fc.constantFrom(SWITCH, COLORS).chain((variants) =>
  fc.record({
    state: fc.constant('ENABLED'),
    variants: fc.constant<Readonly<Record<string, boolean | string>>>(variants),
    defaultVariant: fc.option(fc.constantFrom(...Object.keys(variants)), { nil: undefined }),
    targeting: targetingOf(Object.keys(variants)),
  }),
);

const value = fc.oneof(text, number, fc.boolean());
const context = fc.record(
  { plan: value, age: value, email: value, targetingKey: text, user: fc.constant({ plan: 'pro' }) },
  { requiredKeys: [] },
);
const CONTEXTS = fc.array(context, { minLength: 10, maxLength: 20 });

interface Answers {
  readonly imported: Flags;
  readonly isImported: boolean;
  /** Returns the value of flagd; undefined: the default of the code. `error`: no answer. */
  readonly reference: (given: object) => unknown;
}

async function convert(flag: object): Promise<Answers> {
  const document = { flags: { flag } };
  const report = new Report();
  const definitions = await leaveOutRefused(flagd.convert(document, TARGET, report), TARGET.environments, report);
  expect(report.leftOut).toEqual(definitions.flags?.length === 0 ? ['flag'] : []);
  const imported = await openFlags({
    storage: memoryStorage(),
    environments: [{ name: 'production' }],
    onProblem: () => undefined,
  });
  await imported.definitions.import(definitions);
  const core = new FlagdCore(undefined, SILENT);
  core.setConfigurations(JSON.stringify(document));
  return {
    imported,
    isImported: definitions.flags?.length === 1,
    reference(given) {
      const { reason, value } = core.getFlag('flag')?.evaluate(given as never, SILENT) ?? { reason: 'ERROR' };
      return reason === 'ERROR' ? 'error' : value;
    },
  };
}

function answerOf(
  flags: Flags,
  isSwitch: boolean,
  { targetingKey, ...properties }: { readonly targetingKey?: string },
) {
  const given = { ...(targetingKey !== undefined && { userId: targetingKey }), properties };
  if (isSwitch) return flags.isEnabled('flag', given);
  return flags.getVariant('flag', given).payload?.value;
}

describe('flags imported from flagd', () => {
  it('have its answer in every case, or are left out', async () => {
    const done = { switches: 0, variants: 0, compared: 0 };
    await fc.assert(
      fc.asyncProperty(targeted, CONTEXTS, async (flag, contexts) => {
        const { imported, isImported, reference } = await convert(flag);
        const isSwitch = flag.variants === SWITCH;
        if (isImported) done[isSwitch ? 'switches' : 'variants'] += 1;
        for (const given of isImported ? contexts : []) {
          const expected = reference(given);
          if (expected === 'error') continue;
          done.compared += 1;
          expect([given, answerOf(imported, isSwitch, given)]).toEqual([given, expected]);
        }
        await imported.close();
      }),
      { numRuns: extent({ short: 150, full: 3_000 }) },
    );
    for (const count of Object.values(done)) expect(count).toBeGreaterThan(10);
  });
});
