import { type Constraint, createFlags, type Flags, LIMITS, memoryStorage, type VariantInput } from '@flags/core';
import request from 'supertest';
import { createHostApp } from '../host-app.js';
import { codeIn, read, tableAfter } from './documents.js';

const DEFAULT = { project: 'default' };
const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
const PRODUCTION = { ...CHECKOUT, environment: 'production' };
const STOP = '2026-01-01T00:00:00Z';

const text = (length: number) => 'x'.repeat(length);
const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
const equals = (values: readonly string[]): Constraint => ({ contextName: 'userId', operator: 'IN', values });
const matches = (value: string): Constraint => ({ contextName: 'userId', operator: 'REGEX', value });

/** Asks for so much of something on flags that have `checkout`; fails when it is too much. */
type Probe = (flags: Flags, amount: number) => Promise<unknown>;

const strategyWith =
  (member: (amount: number) => object): Probe =>
  (flags, amount) =>
    flags.addStrategy(PRODUCTION, { name: 'default', ...member(amount) });
const variantWith =
  (member: (amount: number) => Partial<VariantInput>): Probe =>
  (flags, amount) =>
    flags.setVariants(CHECKOUT, [{ name: 'a', ...member(amount) }]);

/** Sends a body to a route, and fails with the code of its answer. */
const send =
  (path: string, bodyOf: (amount: number) => string): Probe =>
  async (flags, amount) => {
    const { app } = await createHostApp({ flags: { storage: memoryStorage() } });
    await flags.close();
    const { status, body } = await request(app).post(path).set('content-type', 'application/json').send(bodyOf(amount));
    if (status >= 500) throw new Error(JSON.stringify(body));
    if (status >= 400) throw Object.assign(new Error(body.message), { code: body.code });
  };

const FEATURES = '/api/admin/projects/default/features';
const BULK = '/api/client/metrics/bulk';
const metric = { appName: 'a', featureName: 'b', timestamp: STOP, yes: 1, no: 0 };

const PROBES: Readonly<Record<string, Probe>> = {
  body: send(FEATURES, (bytes) => `{"name":"a"${' '.repeat(bytes - 12)}}`),
  // The body has two objects or arrays and two members around the empty arrays.
  structure: send(FEATURES, (amount) => `{"name":"a","x":[${many(amount - 4, () => '[]').join(',')}]}`),
  depth: send(FEATURES, (levels) => `{"name":"a","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`),
  async documentBytes(flags, amount) {
    const flag = { ...DEFAULT, flag: 'measured' };
    const { revision: _revision, ...stored } = await flags.createFlag(DEFAULT, { name: 'measured' });
    const { id } = await flags.addStrategy({ ...flag, environment: 'production' }, { name: 'default' });
    const most = text(LIMITS.parameterText);
    const input = (filling: string) => ({ name: 'default', parameters: { a: most, b: most, c: filling } });
    const strategies = [{ id, constraints: [], ...input('') }];
    const environments = [{ name: 'production', enabled: false, strategies }];
    const rest = amount - JSON.stringify({ ...stored, environments }).length;
    await flags.updateStrategy({ ...flag, environment: 'production', strategy: id }, input(text(rest)));
  },
  name: (flags, amount) => flags.createFlag(DEFAULT, { name: text(amount) }),
  label: (flags, amount) => flags.createToken({ name: text(amount), kind: 'admin' }),
  shortDescription: (flags, amount) => flags.createProject({ id: 'a', name: 'a', description: text(amount) }),
  description: (flags, amount) => flags.updateFlag(CHECKOUT, { description: text(amount) }),
  labelsPerFlag: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: many(amount, String) }),
  flagLabel: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: [text(amount)] }),
  owner: (flags, amount) => flags.updateFlag(CHECKOUT, { owner: text(amount) }),
  searchText: (flags, amount) => flags.listFlags({}, { query: text(amount) }),
  projectsPerQuery: (flags, amount) => flags.listFlags({}, { project: many(amount, String) }),
  title: strategyWith((amount) => ({ title: text(amount) })),
  secret: (flags, amount) => flags.createToken({ name: 'a', kind: 'admin', secret: text(amount) }),
  async projectsPerToken(flags, amount) {
    const projects = many(amount, (n) => `project-${n}`);
    for (const id of projects) await flags.createProject({ id, name: id });
    await flags.createToken({ name: 'a', kind: 'client', projects });
  },
  async tokenOverlap(flags, amount) {
    const { token } = await flags.createToken({ name: 'a', kind: 'client' });
    await flags.rotateToken(token.id, { overlap: amount });
  },
  async strategiesPerEnvironment(flags, amount) {
    for (let count = 0; count < amount; count++) await flags.addStrategy(PRODUCTION, { name: 'default' });
  },
  parameters: strategyWith((amount) => ({ parameters: Object.fromEntries(many(amount, (n) => [`p${n}`, n])) })),
  parameterText: strategyWith((amount) => ({ parameters: { userIds: text(amount) } })),
  constraints: strategyWith((amount) => ({ constraints: many(amount, () => equals(['a'])) })),
  values: strategyWith((amount) => ({ constraints: [equals(many(amount, String))] })),
  valueText: strategyWith((amount) => ({ constraints: [equals([text(amount)])] })),
  async segmentsPerStrategy(flags, amount) {
    const { id } = await flags.createSegment({ name: 'a', constraints: [] });
    for (let n = 1; n < amount; n++) await flags.createSegment({ name: `a${n}`, constraints: [] });
    await flags.addStrategy(PRODUCTION, { name: 'default', segments: many(amount, (n) => id + n) });
  },
  variants: (flags, amount) =>
    flags.setVariants(
      CHECKOUT,
      many(amount, (n) => ({ name: `v${n}` })),
    ),
  overrides: variantWith((amount) => ({ overrides: many(amount, () => ({ contextName: 'a', values: [] })) })),
  payloadText: variantWith((amount) => ({ payload: { type: 'string', value: text(amount) } })),
  async dependencies(flags, amount) {
    for (let count = 0; count < amount; count++) {
      await flags.createFlag(DEFAULT, { name: `parent-${count}` });
      await flags.addDependency(CHECKOUT, { flag: `parent-${count}` });
    }
  },
  changesPerSet: (flags, amount) =>
    flags.apply(many(amount, () => ({ op: 'updateFlag', ref: CHECKOUT, input: { stale: true } }) as const)),
  reason: (flags, amount) => flags.apply([], { reason: text(amount) }),
  previewContexts: (flags, amount) =>
    flags.preview([], { environment: 'production', contexts: many(amount, () => ({})) }),
  patchOperations: (flags, amount) =>
    flags.patchFlag(
      CHECKOUT,
      many(amount, () => ({ op: 'test', path: '/stale', value: false }) as const),
    ),
  async patchCopies(flags, amount) {
    // In JSON it has quotes.
    const parameters = { a: text(amount - 2) };
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters });
    const copy = { op: 'copy', from: '/parameters/a', path: '/parameters/b' } as const;
    await flags.patchStrategy({ ...PRODUCTION, strategy: id }, [copy]);
  },
  pattern: strategyWith((amount) => ({ constraints: [matches(`(?:${text(amount - 6)}){0}`.slice(0, amount))] })),
  patternWeight: strategyWith((amount) => ({ constraints: [matches(`a{${amount - 1}}b`)] })),
  reportedName: (flags, amount) =>
    flags.reportMetrics({ appName: text(amount), bucket: { start: STOP, stop: STOP, toggles: {} } }),
  registrationSize(flags, bytes) {
    const strategies = many(1000, (n) => `strategy-${n}`.padEnd(62, 'x'));
    const empty = JSON.stringify({ appName: 'a', strategies, description: '' });
    const registration = { appName: 'a', strategies, started: STOP, interval: 0 };
    return flags.registerApplication({ ...registration, description: text(bytes - empty.length) });
  },
  strategiesPerRegistration: (flags, amount) =>
    flags.registerApplication({ appName: 'a', strategies: many(amount, String), started: STOP, interval: 0 }),
  variantsPerReportedFlag: (flags, amount) => {
    const variants = Object.fromEntries(many(amount, (n) => [`v${n}`, 1]));
    const toggles = { checkout: { yes: 1, no: 0, variants } };
    return flags.reportMetrics({ appName: 'a', bucket: { start: STOP, stop: STOP, toggles } });
  },
  flagsPerReport: (flags, amount) =>
    flags.reportMetrics({
      appName: 'a',
      bucket: {
        start: STOP,
        stop: STOP,
        toggles: Object.fromEntries(many(amount, (n) => [`f${n}`, { yes: 1, no: 0 }])),
      },
    }),
  applicationsPerBatch: send(BULK, (amount) =>
    JSON.stringify({ applications: many(amount, () => ({ appName: 'a' })) }),
  ),
  metricsPerBatch: send(BULK, (amount) => JSON.stringify({ metrics: many(amount, () => metric) })),
  eventsPerPage: (flags, amount) => flags.listEvents({ limit: amount }),
  itemsPerPage: (flags, amount) => flags.listFlags(DEFAULT, { limit: amount }),
};

const ROWS = tableAfter(read('docs/security.md'), '### What is refused').map(([name, most, code]) => ({
  name: codeIn(name),
  most: Number(most?.replaceAll(',', '')),
  code: codeIn(code),
}));

async function outcomeOf(name: string, amount: number): Promise<string> {
  const flags = await createFlags({ storage: memoryStorage(), onProblem: () => undefined });
  try {
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await PROBES[name]?.(flags, amount);
    return 'accepted';
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  } finally {
    await flags.close();
  }
}

describe('the limits of docs/security.md', () => {
  it('are all limits of the engine, with their values', () => {
    const tables = ['### What is refused', '### What is combined', '### What is dropped, cut or ignored'];
    const documented = tables
      .flatMap((heading) => tableAfter(read('docs/security.md'), heading))
      .map(([name, value]) => [codeIn(name), Number(value?.replaceAll(',', ''))] as const);
    const ofTheRouter = ['body', 'structure', 'depth'];
    const ofTheEngine = documented.filter(([name]) => !ofTheRouter.includes(name));
    expect(Object.fromEntries(ofTheEngine)).toEqual(LIMITS);
  });

  it('all have a test here', () => {
    expect(ROWS.map(({ name }) => name)).toEqual(Object.keys(PROBES));
  });

  it.each(ROWS)('accept $most of $name, and refuse one more with $code', async ({ name, most, code }) => {
    expect(await outcomeOf(name, most)).toBe('accepted');
    expect(await outcomeOf(name, most + 1)).toBe(code);
  });
});
