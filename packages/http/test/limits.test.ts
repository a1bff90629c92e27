import {
  type Change,
  type Constraint,
  type Flags,
  LIMITS,
  memoryStorage,
  openFlags,
  type VariantInput,
} from '@flags/core';
import type { NewRollout } from '@flags/core/types';
import request from 'supertest';
import { patchFlag, patchStrategy } from '../src/features/flags/patches.js';
import { codeIn, read, tableAfter } from './docs/documents.js';
import { createHostApp } from './host-app.js';

describe('limits', () => {
  const DEFAULT = { project: 'default' };
  const CHECKOUT = { ...DEFAULT, flag: 'checkout' };
  const PRODUCTION = { ...CHECKOUT, environment: 'production' };
  const STOP = '2026-01-01T00:00:00Z';

  const text = (length: number) => 'x'.repeat(length);
  const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
  const equals = (values: readonly string[]): Constraint => ({ contextName: 'userId', operator: 'IN', values });
  const matches = (value: string): Constraint => ({ contextName: 'userId', operator: 'REGEX', value });

  /** Uses a limit with this number of items on flags that have `checkout`. Fails above the limit. */
  type Probe = (flags: Flags<string>, amount: number) => Promise<unknown>;

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
      const { status, body } = await request(app)
        .post(path)
        .set('content-type', 'application/json')
        .send(bodyOf(amount));
      if (status >= 500) throw new Error(JSON.stringify(body));
      if (status >= 400) throw Object.assign(new Error(body.message), { code: body.code });
    };

  async function startRollout(flags: Flags, steps: NewRollout['steps']): Promise<void> {
    const { id } = await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout' });
    await flags.enable(PRODUCTION);
    await flags.rollouts.start({ ...PRODUCTION, strategy: id }, { steps });
  }

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
      const rest = amount - JSON.stringify({ ...stored, dependencies: [], environments }).length;
      await flags.updateStrategy({ ...flag, environment: 'production', strategy: id }, input(text(rest)));
    },
    name: (flags, amount) => flags.createFlag(DEFAULT, { name: text(amount) }),
    label: (flags, amount) => flags.tokens.create({ name: text(amount), kind: 'admin' }),
    shortDescription: (flags, amount) => flags.createProject({ id: 'a', name: 'a', description: text(amount) }),
    description: (flags, amount) => flags.updateFlag(CHECKOUT, { description: text(amount) }),
    labelsPerFlag: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: many(amount, String) }),
    flagLabel: (flags, amount) => flags.updateFlag(CHECKOUT, { labels: [text(amount)] }),
    owner: (flags, amount) => flags.updateFlag(CHECKOUT, { owner: text(amount) }),
    searchText: (flags, amount) => flags.listFlags({ query: text(amount) }),
    async projectsPerQuery(flags, amount) {
      const projects = many(amount, (n) => `project-${n}`);
      for (const id of projects) await flags.createProject({ id, name: id });
      await flags.listFlags({ project: projects });
    },
    title: strategyWith((amount) => ({ title: text(amount) })),
    secret: (flags, amount) => flags.tokens.create({ name: 'a', kind: 'admin', secret: text(amount) }),
    async projectsPerToken(flags, amount) {
      const projects = many(amount, (n) => `project-${n}`);
      for (const id of projects) await flags.createProject({ id, name: id });
      await flags.tokens.create({ name: 'a', kind: 'client', projects });
    },
    tokensPerVerification: (flags, amount) => flags.verifyTokens(many(amount, (n) => `secret-${n}`)),
    async tokenOverlap(flags, amount) {
      const { token } = await flags.tokens.create({ name: 'a', kind: 'client' });
      await flags.tokens.rotate({ token: token.id }, { overlap: amount });
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
      const { id } = await flags.segments.create({ name: 'a', constraints: [] });
      for (let n = 1; n < amount; n++) await flags.segments.create({ name: `a${n}`, constraints: [] });
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
    documentsPerImport: (flags, amount) =>
      flags.definitions.import({ version: 1, flags: many(amount, (at) => ({ name: `flag-${at}` })) }),
    reason: (flags, amount) => flags.apply([], { reason: text(amount) }),
    async consumers(flags, amount) {
      for (let count = 0; count < amount; count++) await flags.consume(`c${count}`, () => undefined);
    },
    consumerLease: (flags, amount) => flags.consume('audit', () => undefined, { lease: amount }),
    requestWindow(flags, amount) {
      const due = Date.now() + 60_000;
      const notAfter = new Date(due + amount).toISOString();
      const change: Change = { op: 'archiveFlag', ref: CHECKOUT };
      return flags.changeRequests.create([change], { at: new Date(due).toISOString(), notAfter });
    },
    rolloutSteps: (flags, amount) =>
      startRollout(
        flags,
        many(amount, () => ({ percentage: 1, hold: 0 })),
      ),
    rolloutHold: (flags, amount) => startRollout(flags, [{ percentage: 1, hold: amount }]),
    protectedEnvironments: (flags, amount) => {
      const named = many(amount, (at) => [`e${at}`, { required: 1 }] as const);
      return flags.approvalPolicy.set({ environments: Object.fromEntries(named) });
    },
    requiredApprovals: (flags, amount) =>
      flags.approvalPolicy.set({ environments: { production: { required: amount } } }),
    previewContexts: (flags, amount) =>
      flags.preview([], { environment: 'production', contexts: many(amount, () => ({})) }),
    contextBytes: send('/api/frontend', (bytes) => `{"context":{"userId":"${text(bytes - 25)}"}}`),
    contextProperties: send('/api/frontend', (amount) => {
      const members = many(amount, (at) => `"p${at}":1`);
      return `{"context":{"properties":{${members.join(',')}}}}`;
    }),
    patchOperations: (flags, amount) =>
      patchFlag(flags, {
        ref: CHECKOUT,
        patch: many(amount, () => ({ op: 'test', path: '/stale', value: false })),
        context: {},
      }),
    patchPointer: (flags, amount) =>
      // The test of a place that is not there fails otherwise.
      patchFlag(flags, {
        ref: CHECKOUT,
        patch: [
          { op: 'add', path: '/description', value: 'x' },
          { op: 'copy', from: '/description', path: `/labels/${'0'.repeat(amount - 8)}` },
        ],
        context: {},
      }).catch((error) => {
        if (error.code !== 'invalid_patch') throw error;
      }),
    async patchCopies(flags, amount) {
      // In JSON it has quotes.
      const parameters = { a: text(amount - 2) };
      const { id } = await flags.addStrategy(PRODUCTION, { name: 'default', parameters });
      const copy = { op: 'copy', from: '/parameters/a', path: '/parameters/b' };
      await patchStrategy(flags, { ref: { ...PRODUCTION, strategy: id }, patch: [copy], context: {} });
    },
    pattern: strategyWith((amount) => ({ constraints: [matches(`(?:${text(amount - 6)}){0}`.slice(0, amount))] })),
    patternRepetitions: strategyWith((amount) => ({ constraints: [matches(`a{${amount}}`)] })),
    patternsPerFlag: strategyWith((amount) => ({ constraints: many(amount, (n) => matches(`^${n}$`)) })),
    reportedName: (flags, amount) =>
      flags.reportMetrics({ application: text(amount), start: STOP, stop: STOP, counts: {} }),
    registrationSize(flags, bytes) {
      const strategies = many(1000, (n) => `strategy-${n}`.padEnd(62, 'x'));
      const empty = JSON.stringify({ application: 'a', strategies, description: '' });
      const description = text(bytes - empty.length);
      return flags.registerApplication({ application: 'a', strategies, description });
    },
    strategiesPerRegistration: (flags, amount) =>
      flags.registerApplication({ application: 'a', strategies: many(amount, String) }),
    variantsPerReportedFlag: (flags, amount) => {
      const variants = Object.fromEntries(many(amount, (n) => [`v${n}`, 1]));
      const counts = { checkout: { yes: 1, no: 0, variants } };
      return flags.reportMetrics({ application: 'a', start: STOP, stop: STOP, counts });
    },
    flagsPerReport: (flags, amount) =>
      flags.reportMetrics({
        application: 'a',
        start: STOP,
        stop: STOP,
        counts: Object.fromEntries(many(amount, (n) => [`f${n}`, { yes: 1, no: 0 }])),
      }),
    applicationsPerBatch: send(BULK, (amount) =>
      JSON.stringify({ applications: many(amount, () => ({ appName: 'a' })) }),
    ),
    metricsPerBatch: send(BULK, (amount) => JSON.stringify({ metrics: many(amount, () => metric) })),
    batchId: (flags, amount) => flags.reportMetricsInBulk({}, { id: 'x'.repeat(amount) }),
    eventsPerPage: (flags, amount) => flags.events.list({ limit: amount }),
    itemsPerPage: (flags, amount) => flags.listFlags(DEFAULT, { limit: amount }),
  };

  /** Limits that several calls reach together. Tests of their topics hold them. */
  const COMBINED = [
    'activeRollouts',
    'changeSetBytes',
    'flagWeight',
    'previewResults',
    'registrationsSizePerBatch',
    'requestAhead',
    'requestLifetime',
    'shortestSecret',
    'waitingRequestBytes',
    'waitingRequests',
    'waitingRequestsPerPerson',
  ];

  const REFUSED = tableAfter(read('docs/reference/limits.md'), '## What is refused').map(([name, most, , beyond]) => ({
    name: codeIn(name),
    most: Number(most?.replace(/ \(.*/, '').replaceAll(',', '')),
    code: codeIn(beyond),
  }));
  const ROWS = REFUSED.filter(({ name }) => !COMBINED.includes(name));

  async function outcomeOf(name: string, amount: number): Promise<string> {
    const options = { onProblem: () => undefined, due: { run: 'elsewhere' } } as const;
    const flags = await openFlags({ storage: memoryStorage(), ...options });
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

  it('have a test each, if a call beyond them is refused', () => {
    expect(ROWS.map(({ name }) => name).sort()).toEqual(Object.keys(PROBES).sort());
  });

  it.each(ROWS)('accept $most of $name, and refuse one more with $code', async ({ name, most, code }) => {
    expect(await outcomeOf(name, most)).toBe('accepted');
    expect(await outcomeOf(name, most + 1)).toBe(code);
  });
});
