/*
 * The types that follow from a schema. The compiler checks this file, nothing runs it: `tsc -b` fails where a line
 * below
 * `@ts-expect-error` compiles, and where another one does not.
 */
import {
  type ContextualFlags,
  type CustomStrategy,
  defineFlags,
  type EvaluationContext,
  type FlagName,
  type Flags,
  type FlagsSchema,
  memoryStorage,
  openFlags,
  type Strategy,
  type StrategyInput,
  type TypedContext,
  type TypedContextualFlags,
  type TypedFlags,
  type VariantName,
} from '@flags/core';
import type { DeclaredFlag, StandardSchema } from '@flags/core/types';

type Equal<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
declare function expectType<Expected>(): <Actual>(
  value: Actual,
  ...same: Equal<Actual, Expected> extends true ? [] : [never]
) => void;

declare const limits: StandardSchema<{ readonly requests: number; readonly since: Date }>;

const schema = defineFlags(
  {
    checkout: { type: 'release', description: 'The new checkout' },
    banner: { variants: { red: { color: 'string' }, blue: { color: 'string' } } },
    search: { variants: ['old', 'new'] },
    limits: { variants: { small: limits, large: limits } },
    theme: {
      variants: { dark: { side: ['left', 'right'], size: 'number', tags: 'string[]', note: 'string?' }, plain: null },
    },
    bare: { variants: { one: {}, two: {} } },
    level: { variants: { low: 'number', high: 'number' } },
  },
  { environments: ['development', 'production'], context: { plan: ['free', 'pro'], seats: 'number' } },
);
type Schema = typeof schema;
const storage = memoryStorage();
const flags = await openFlags({ storage, schema });

// Names
expectType<TypedFlags<Schema>>()(flags);
expectType<boolean>()(flags.isEnabled('checkout'));
// @ts-expect-error: misspelt
flags.isEnabled('chekout');
// @ts-expect-error: misspelt
flags.explain('chekout');
// @ts-expect-error: misspelt
flags.getPayload('baner');
flags.evaluator.isEnabled('checkout');
// @ts-expect-error: misspelt
flags.evaluator.isEnabled('chekout');
// @ts-expect-error: no administration
flags.evaluator.deleteProject;
type ParameterOf<Given extends string> = DeclaredFlag<Schema, Given>;
declare const near: ParameterOf<'chekout'>;
declare const swapped: ParameterOf<'Serach'>;
declare const unrelated: ParameterOf<'unrelated'>;
expectType<'There is no flag chekout: did you mean checkout?'>()(near);
expectType<'There is no flag Serach: did you mean search?'>()(swapped);
expectType<'There is no flag unrelated'>()(unrelated);
const name: FlagName<Schema> = 'search';
flags.isEnabled(name);
// @ts-expect-error: any text
flags.isEnabled('checkout' as string);

// Variants
expectType<'red' | 'blue' | 'disabled'>()(flags.getVariant('banner').name);
expectType<'old' | 'new' | 'disabled'>()(flags.getVariant('search').name);
expectType<'disabled'>()(flags.getVariant('checkout').name);
const variant: VariantName<Schema, 'banner'> = 'blue';
// @ts-expect-error: not a variant of this flag
if (flags.getVariant('banner').name === 'new') console.log(variant);
flags.getVariant('banner', {}, { fallback: { name: 'red', enabled: true } });
// @ts-expect-error: not a variant of this flag
flags.getVariant('banner', {}, { fallback: { name: 'green', enabled: true } });

// Payloads
expectType<string | undefined>()(flags.getPayload('banner')?.color);
// @ts-expect-error: not a member of the payload
flags.getPayload('banner')?.colour;
expectType<{ readonly requests: number; readonly since: Date } | undefined>()(flags.getPayload('limits'));
expectType<{ readonly requests: number; readonly since: Date }>()(
  flags.getPayload('limits', {}, { fallback: { requests: 10, since: new Date() } }),
);
// @ts-expect-error: not a payload of this flag
flags.getPayload('limits', {}, { fallback: { requests: '10' } });
expectType<undefined>()(flags.getPayload('search'));
expectType<undefined>()(flags.getPayload('checkout'));
expectType<undefined>()(flags.getPayload('bare'));
expectType<number | undefined>()(flags.getPayload('level'));
const theme = flags.getPayload('theme');
expectType<'left' | 'right' | undefined>()(theme?.side);
expectType<number | undefined>()(theme?.size);
expectType<readonly string[] | undefined>()(theme?.tags);
expectType<string | undefined>()(theme?.note);

// Types of flags, payloads and context properties
// @ts-expect-error: a misspelt flag type
defineFlags({ checkout: { type: 'relase' } });
defineFlags({ checkout: { type: 'kill-switch' } });
defineFlags({ checkout: { type: 'ops' }, banner: {} }, { types: ['release', 'ops'] });
// @ts-expect-error: not one of the types
defineFlags({ checkout: { type: 'experiment' } }, { types: ['release', 'ops'] });
// @ts-expect-error: a misspelt payload
defineFlags({ level: { variants: { low: 'nubmer' } } });
// @ts-expect-error: a misspelt member
defineFlags({ banner: { variants: { red: { color: { hue: 'strng?' } } } } });
// @ts-expect-error: a misspelt context property
defineFlags({}, { context: { seats: 'nmber' } });

// Environments
flags.isEnabled('checkout', {}, { environment: 'production' });
// @ts-expect-error: not an environment
flags.isEnabled('checkout', {}, { environment: 'staging' });
// @ts-expect-error: not an environment
flags.forContext({}, { environment: 'staging' });
// @ts-expect-error: not an environment
flags.configuration({ environment: 'staging' });

// Options in the place of a context
declare const production: 'production';
// @ts-expect-error: these are options
flags.isEnabled('checkout', { environment: 'production' });
// @ts-expect-error: these are options
flags.isEnabled('checkout', { environment: production });
// @ts-expect-error: these are options
flags.getVariant('banner', { environment: 'production' });
// @ts-expect-error: these are options
flags.getPayload('banner', { environment: 'production' });
// @ts-expect-error: these are options
flags.explain('checkout', { environment: 'production' });
// @ts-expect-error: these are options
flags.forContext({ environment: 'production' });
declare const options: { readonly environment: string };
// @ts-expect-error: these are options
flags.isEnabled('checkout', options);
flags.isEnabled('checkout', { userId: '7', environment: 'staging' });
flags.isEnabled('checkout', { plan: 'pro', environment: 'staging' }, { environment: 'production' });
flags.isEnabled('checkout', { properties: { plan: 'pro' }, environment: 'staging' });
// @ts-expect-error: not a property
flags.isEnabled('checkout', { userId: '7', environment: 'staging', plam: 'pro' });

// Context properties, beside the members or in `properties`
flags.isEnabled('checkout', { userId: '7', plan: 'pro', seats: 3 });
flags.isEnabled('checkout', { userId: '7', properties: { plan: 'free' } });
// @ts-expect-error: not a value of the property
flags.isEnabled('checkout', { plan: 'gold' });
// @ts-expect-error: not a value of the property
flags.isEnabled('checkout', { properties: { plan: 'gold' } });
// @ts-expect-error: not a property
flags.isEnabled('checkout', { plam: 'pro' });
// @ts-expect-error: not a property
flags.isEnabled('checkout', { properties: { plam: 'pro' } });
// @ts-expect-error: not a number
flags.isEnabled('checkout', { seats: 'three' });

// The same for one context
const mine = flags.forContext({ userId: '7', plan: 'free' });
expectType<TypedContextualFlags<Schema>>()(mine);
mine.isEnabled('checkout', { fallback: true });
// @ts-expect-error: misspelt
mine.isEnabled('chekout');
expectType<'red' | 'blue' | 'disabled'>()(mine.getVariant('banner').name);
expectType<string | undefined>()(mine.getPayload('banner')?.color);
expectType<string>()(mine.getPayload('banner', { fallback: { color: 'red' } }).color);
// @ts-expect-error: not a payload of this flag
mine.getPayload('banner', { fallback: { colour: 'red' } });

// Other actors keep the types; administration accepts any name
expectType<TypedFlags<Schema>>()(flags.as('ada'));
await flags.as('ada').createFlag({ project: 'default' }, { name: 'undeclared' });
expectType<string[]>()((await flags.drift()).map(({ message }) => message));

// Typed flags are flags
const untyped: Flags = flags;
const contextual: ContextualFlags = mine;
const some: FlagsSchema = schema;

export { contextual, some, untyped };

// Declarations
// @ts-expect-error: unknown type
defineFlags({ banner: { variants: { red: { color: 'strng' } } } });
// @ts-expect-error: not a name
defineFlags({ banner: { variants: [1] } });
// @ts-expect-error: unknown member
defineFlags({ banner: { varaints: ['red'] } });

// Without environments and context, both stay as they are
const small = await openFlags({ storage, schema: defineFlags({ checkout: {} }) });
small.isEnabled('checkout', { properties: { anything: 1 } }, { environment: 'anywhere' });
// @ts-expect-error: not declared
small.isEnabled('checkout', { plan: 'pro' });
expectType<EvaluationContext>()({} as TypedContext<typeof small.schema>);

// Without a schema nothing is typed
const plain = await openFlags({ storage, pollInterval: 0 });
expectType<Flags>()(plain);
// @ts-expect-error: these are options
plain.isEnabled('anything', { environment: 'anywhere' });
// @ts-expect-error: these are options
plain.forContext({ environment: 'anywhere' });
declare const ofRequest: { readonly userId: string | undefined; readonly environment: string | undefined };
plain.isEnabled('anything', ofRequest);
declare const given: EvaluationContext;
plain.isEnabled('anything', given);
plain.isEnabled('anything', { ...given, userId: '7' });
declare const either: { readonly userId: string } | { readonly sessionId: string };
plain.isEnabled('anything', either);
const forAny = <Context extends EvaluationContext>(context: Context) => plain.isEnabled('anything', context);
forAny({ userId: '7' });
plain.isEnabled('anything', { properties: { anything: 1 } }, { environment: 'anywhere' });
expectType<unknown>()(plain.getPayload('anything'));
expectType<string>()(plain.getVariant('anything').name);

// Strategies
const ref = { project: 'default', flag: 'checkout', environment: 'production' };
await plain.addStrategy(ref, { name: 'flexibleRollout', parameters: { rollout: 50, stickiness: 'userId' } });
await plain.addStrategy(ref, { name: 'default', parameters: {} });
// @ts-expect-error: misspelt
await plain.addStrategy(ref, { name: 'flexibleRolout' });
// @ts-expect-error: a misspelt parameter
await plain.addStrategy(ref, { name: 'flexibleRollout', parameters: { rolout: 50 } });
// @ts-expect-error: a misspelt parameter beside another
await plain.addStrategy(ref, { name: 'userWithId', parameters: { userIds: '7', userId: '8' } });
// @ts-expect-error: it has no parameters
await plain.addStrategy(ref, { name: 'default', parameters: { rollout: 50 } });
// @ts-expect-error: misspelt
await plain.configureEnvironment(ref, { enabled: true, strategies: [{ name: 'flexibleRolout' }] });
// @ts-expect-error: misspelt
await plain.plan([{ op: 'addStrategy', ref, input: { name: 'flexibleRolout' } }]);
// @ts-expect-error: a misspelt parameter
await plain.apply([{ op: 'addStrategy', ref, input: { name: 'userWithId', parameters: { users: '7' } } }]);
// @ts-expect-error: misspelt
const misspelt: StrategyInput = { name: 'flexibleRolout' };
// @ts-expect-error: misspelt
await flags.as('ada').addStrategy(ref, { name: 'flexibleRolout' });

// Own strategies, in the options or in the schema
const weekend = { name: 'weekend', isEnabled: () => true } as const;
const own = await openFlags({ storage, strategies: [weekend, { name: 'moon', isEnabled: () => false }] });
await own.as('ada').addStrategy(ref, { name: 'weekend', parameters: { only: true } });
await own.apply([{ op: 'addStrategy', ref, input: { name: 'moon' } }]);
// @ts-expect-error: neither built in nor own
await own.addStrategy(ref, { name: 'weekends' });
const withOwn: Flags = own;
const declared = await openFlags({ storage, schema: defineFlags({ checkout: {} }, { strategies: ['beta'] }) });
await declared.addStrategy(ref, { name: 'beta' });
// @ts-expect-error: not declared
await declared.addStrategy(ref, { name: 'betta' });
declare const unnamed: CustomStrategy;
await (await openFlags({ storage, strategies: [unnamed] })).addStrategy(ref, { name: 'anything' });

// What is read can be written again
const read: Strategy = await plain.addStrategy(ref, { name: 'default' });
await plain.updateStrategy({ ...ref, strategy: read.id }, { ...read, title: 'Everybody' });
await plain.configureEnvironment(ref, { enabled: true, strategies: [read, { name: 'default' }] });
await plain.definitions.import(await plain.definitions.export());

export { misspelt, withOwn };
