import { createFlags, type Flags, memoryStorage } from '../../src/index.js';
import { inputSchemas } from '../../src/integration.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { SILENT } from './silent.js';

const USER = { userId: '7' };

/** A flag with everything that evaluation works with. */
async function lived(): Promise<Flags> {
  const flags = await createFlags({ storage: memoryStorage(), ...SILENT });
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
  const { id } = await flags.createSegment({ name: 'beta', constraints });
  for (const name of ['checkout', 'parent']) await flags.createFlag(DEFAULT, { name, impressionData: true });
  const variants = [{ name: 'own', weightType: 'variable', weight: 1000, stickiness: 'default' }] as const;
  const strategy = { name: 'flexibleRollout', parameters: { rollout: 100 }, segments: [id], constraints, variants };
  await flags.addStrategy(PRODUCTION, strategy);
  await flags.addStrategy({ ...DEFAULT, flag: 'parent', environment: 'production' }, { name: 'default' });
  await flags.setVariants({ ...DEFAULT, flag: 'parent' }, [
    {
      name: 'blue',
      payload: { type: 'string', value: 'b' },
      overrides: [{ contextName: 'userId', values: ['7'] }],
    },
  ]);
  await flags.addDependency(CHECKOUT, { flag: 'parent', variants: ['blue'] });
  for (const flag of ['checkout', 'parent']) {
    await flags.enable({ ...DEFAULT, flag, environment: 'production' });
  }
  return flags;
}

/** All that evaluation gives to its callers. */
const GIVEN: readonly (readonly [string, (flags: Flags) => unknown])[] = [
  ['settings', (flags) => flags.settings],
  ['the settings of another actor', (flags) => flags.as('ada').settings],
  ['the configuration', (flags) => flags.configuration()],
  ['the configuration of another environment', (flags) => flags.configuration({ environment: 'development' })],
  ['an explanation', (flags) => flags.explain('checkout', USER)],
  ['an explanation of what is off', (flags) => flags.explain('checkout', { userId: '8' })],
  ['an explanation of an unknown flag', (flags) => flags.explain('unknown', USER)],
  ['a variant', (flags) => flags.getVariant('parent', USER)],
  ['the variant of an unknown flag', (flags) => flags.getVariant('unknown', USER)],
  ['all answers', (flags) => flags.forContext(USER).evaluateAll()],
  ['the status', (flags) => flags.status()],
  ['the schemas of inputs', (flags) => inputSchemas(flags.settings)],
];

function answersOf(flags: Flags): unknown {
  return JSON.stringify(GIVEN.map(([, give]) => give(flags)));
}

/** Changes whatever can be changed, at every depth. */
function vandalize(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const member of Object.values(value)) vandalize(member, seen);
  for (const key of [...Object.keys(value), 'vandal']) Reflect.set(value, key, 'vandal');
  if (Array.isArray(value)) Reflect.set(value, value.length, 'vandal');
  for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
}

describe('the results of a caller', () => {
  it.each(GIVEN)('can be changed without changing the engine: %s', async (_, give) => {
    const flags = await lived();
    const before = answersOf(flags);
    vandalize(give(flags));
    expect(answersOf(flags)).toBe(before);
    await flags.createFlag(DEFAULT, { name: 'another', type: 'release' });
    await flags.removeDependency(CHECKOUT, { flag: 'parent' });
    expect(flags.isEnabled('checkout', USER)).toBe(true);
    expect(flags.isEnabled('checkout', { userId: '8' })).toBe(false);
    await flags.close();
  });

  it('by the listener to impressions can be changed likewise', async () => {
    const flags = await lived();
    const before = answersOf(flags);
    flags.onImpression((impression) => {
      const { context: _ours, ...rest } = impression;
      vandalize(rest);
    });
    flags.isEnabled('checkout', USER);
    flags.getVariant('parent', USER);
    expect(answersOf(flags)).toBe(before);
    await flags.close();
  });
});
