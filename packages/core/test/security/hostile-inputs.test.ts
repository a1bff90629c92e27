import { createFlags, type Flags, isFlagsError, memoryStorage } from '../../src/index.js';
import { everythingIn } from '../rules/everything.js';
import { CHECKOUT, PRODUCTION } from '../rules/references.js';
import { furnish, TAKERS } from './every-input.js';

const LEVELS = 100_000;
const INHERITED = [Object.prototype, Array.prototype, String.prototype, Function.prototype];

function deep(kind: 'lists' | 'objects'): unknown {
  let value: unknown = kind === 'lists' ? [] : {};
  for (let level = 0; level < LEVELS; level++) value = kind === 'lists' ? [value] : { a: value };
  return value;
}

/** The value with another in the place of each of its members, one at a time, and beside them. */
function withInside(value: unknown, monster: unknown): readonly unknown[] {
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, index) => withInside(item, monster).map((one) => value.with(index, one)));
    return [monster, [...value, monster], ...inner];
  }
  if (typeof value !== 'object' || value === null) return [monster];
  const members = Object.entries(value).flatMap(([name, member]) =>
    withInside(member, monster).map((one) => ({ ...value, [name]: one })),
  );
  return [monster, { ...value, unknown: monster }, ...members];
}

/** As JSON brings it: with own members whose names have done harm, in every object. */
function poisoned(value: unknown): unknown {
  const poison = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
  return JSON.parse(JSON.stringify(value).replaceAll(/\{(\})?/g, (_, end) => `{${poison}${end ?? ','}`));
}

async function outcomeOf(attempt: () => Promise<unknown>): Promise<'done' | 'refused'> {
  try {
    await attempt();
    return 'done';
  } catch (error) {
    if (isFlagsError(error)) return 'refused';
    throw error;
  }
}

describe.each(Object.entries(TAKERS))('%s', (_, { input, take }) => {
  let flags: Flags;

  beforeEach(async () => {
    flags = await createFlags({ storage: memoryStorage(), onProblem: () => undefined });
    await furnish(flags);
  });

  afterEach(() => flags.close());

  it('accepts valid input', async () => {
    await expect(take(flags, input)).resolves.not.toThrow();
  });

  it.each(['lists', 'objects'] as const)('withstands 100,000 %s in one another, at any place', async (kind) => {
    const monster = deep(kind);
    const outcomes = new Set<string>();
    for (const hostile of withInside(input, monster)) outcomes.add(await outcomeOf(() => take(flags, hostile)));
    expect(outcomes).toContain('refused');
    // What was let in is no deeper than what it is made of.
    expect(JSON.stringify(await everythingIn(flags))).not.toContain('['.repeat(20));
  });

  it('changes no prototype, whatever its members are called', async () => {
    const before = INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype));
    await outcomeOf(() => take(flags, poisoned(input)));
    expect(INHERITED.map((prototype) => Object.getOwnPropertyNames(prototype))).toEqual(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(await everythingIn(flags))).not.toContain('"polluted"');
  });
});

describe('a JSON Patch', () => {
  const PLACES = ['__proto__', 'constructor', 'prototype', 'toString'];

  it.each(PLACES)('does not reach a prototype by %s', async (name) => {
    const flags = await createFlags({ storage: memoryStorage(), onProblem: () => undefined });
    await furnish(flags);
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters: { a: 'b' } });
    const paths = [`/${name}/polluted`, `/parameters/${name}/polluted`, `/parameters/${name}`, `/${name}`];
    for (const path of [...paths, `/constraints/${name}/polluted`, `/0/${name}/polluted`, `/parameters/a/${name}`]) {
      for (const op of ['add', 'replace', 'test'] as const) {
        const patch = [{ op, path, value: { polluted: 1 } }];
        await outcomeOf(() => flags.patchStrategy({ ...PRODUCTION, strategy: id }, patch));
        await outcomeOf(() => flags.patchVariants(CHECKOUT, patch));
        await outcomeOf(() => flags.patchFlag(CHECKOUT, patch));
      }
      for (const op of ['move', 'copy'] as const) {
        const patch = [{ op, from: '/parameters', path }];
        await outcomeOf(() => flags.patchStrategy({ ...PRODUCTION, strategy: id }, patch));
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
    await flags.close();
  });
});

describe('the operations that are tried', () => {
  it('are all that take input', async () => {
    const flags = await createFlags({ storage: memoryStorage() });
    const withoutInput =
      /^(as|close|closing|settings|dataVersion|subscribe|on[A-Z]\w+|is[A-Z]\w+|forContext|explain|configuration|recentContexts|loadConfiguration|projectOf|planUndo|status|refresh|get\w+|list\w+|count\w+|delete\w+|remove\w+|archive\w+|locate\w+|revive\w+|enable|disable|verifyToken|changeMemberRole|asOf)$/;
    const operations = Object.keys(flags).filter((name) => !withoutInput.test(name));
    expect(operations.filter((name) => !(name in TAKERS))).toEqual([]);
    await flags.close();
  });
});
