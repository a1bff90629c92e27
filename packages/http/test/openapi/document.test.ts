import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { extent } from '../../../../test/extent.js';
import { ACTIONS, headerRulesOf } from '../../src/actions.js';
import { ERROR_KINDS } from '../../src/messages/errors.js';
import { ROUTES } from '../../src/routes.js';
import { AUTH_MODES, documentFor, type Media, type OpenApi, operationsOf } from './documents.js';

function mediaIn(document: OpenApi): readonly Media[] {
  return operationsOf(document).flatMap(({ responses, requestBody }) =>
    [...Object.values(responses), ...(requestBody ? [requestBody] : [])].flatMap(({ content = {} }) =>
      Object.values(content),
    ),
  );
}

/** Every `$ref` anywhere in a value. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === '$ref' && typeof member === 'string' ? [member] : referencesIn(member),
  );
}

describe('the OpenAPI document', () => {
  it('contains every route, by its action', async () => {
    const operations = operationsOf(await documentFor('token')).map(({ operationId }) => operationId);
    expect(operations.toSorted()).toEqual(ROUTES.map(({ action }) => action).toSorted());
  });

  it('writes paths in its own syntax, and declares each of their parameters', async () => {
    const { paths } = await documentFor('token');
    for (const [path, item] of Object.entries(paths)) {
      expect(path).not.toContain(':');
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(item)) {
        const declared = parameters.filter((parameter) => parameter.in === 'path');
        expect(declared.map(({ name }) => name)).toEqual(names);
        expect(declared.every(({ required }) => required)).toBe(true);
      }
    }
  });

  it('documents the headers of requests where they have an effect', async () => {
    const { paths } = await documentFor('token');
    for (const route of ROUTES) {
      const { method, path, ifMatch, form: { media, isConditional, vary } = {} } = route;
      const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const headers = operation?.parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      const reading =
        media === undefined ? ['If-None-Match'] : media.includes('text/event-stream') ? ['Last-Event-ID'] : [];
      const writing = [
        ...(ifMatch === undefined ? [] : ['If-Match']),
        ...(headerRulesOf(route).isLogged ? ['X-Change-Reason'] : []),
        ...(headerRulesOf(route).takesBypass ? ['X-Bypass-Approval'] : []),
        ...(headerRulesOf(route).isRepeatable || 'takesBatchId' in ACTIONS[route.action] ? ['Idempotency-Key'] : []),
      ];
      const expected = method === 'GET' || isConditional ? reading : writing;
      expect([method, path, headers]).toEqual([method, path, vary === undefined ? expected : [...expected, vary]]);
    }
  });

  it('documents the depth that every reply to an SDK has, for followers', async () => {
    const { paths } = await documentFor('token');
    for (const { method, path, access } of ROUTES) {
      const { responses = {} } = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {};
      for (const [status, { headers }] of Object.entries(responses)) {
        const required = headers?.['Flags-Depth']?.required ?? false;
        expect([method, path, status, required]).toEqual([method, path, status, access !== 'admin']);
      }
    }
  });

  it('refers from its own address to where the router is mounted', async () => {
    const { servers } = await documentFor('token');
    const own = 'http://localhost/internal/flags/api/admin/openapi.json';
    expect(servers.map(({ url }) => new URL(url, own).pathname)).toEqual(['/internal/flags/']);
  });

  it.each([
    ['none', [], []],
    ['host', ['hostApplication'], ['hostApplication']],
    ['token', ['adminToken', 'clientToken', 'frontendToken', 'ofrepApiKey'], ['adminToken']],
  ] as const)('describes the authentication by %s', async (auth, schemes, admin) => {
    const { components, paths } = await documentFor(auth);
    expect(Object.keys(components.securitySchemes)).toEqual(schemes);
    const security = paths['/api/admin/projects']?.get?.security ?? [];
    expect(security.flatMap((requirement) => Object.keys(requirement))).toEqual(admin);
    const statuses = Object.keys(paths['/api/admin/projects']?.get?.responses ?? {});
    expect(statuses.includes('401')).toBe(auth !== 'none');
  });

  it('marks deprecated routes', async () => {
    const deprecated = operationsOf(await documentFor('token')).filter((operation) => operation.deprecated);
    expect(deprecated.map(({ operationId }) => operationId).toSorted()).toEqual([
      'listApplicationsByFlag',
      'listSeenFlags',
      'patchVariants',
    ]);
  });

  it('has a component for every reference, and no component without one', async () => {
    const document = await documentFor('token');
    const referred = new Set(referencesIn(document).map((reference) => reference.replace('#/components/schemas/', '')));
    expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  });

  it('contains every error code with its status', async () => {
    const document = await documentFor('token');
    const told = operationsOf(document).flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        const { allOf } = (content?.['application/json']?.schema ?? {}) as { allOf?: readonly object[] };
        const restriction = allOf?.[1] as { properties: { code: { enum: (keyof typeof ERROR_KINDS)[] } } } | undefined;
        return (restriction?.properties.code.enum ?? []).map((code) => [code, Number(status)] as const);
      }),
    );
    expect(told.length).toBeGreaterThan(100);
    for (const [code, status] of told) expect([code, status]).toEqual([code, ERROR_KINDS[code].status]);
  });

  it.each(extent({ short: ['token'], full: AUTH_MODES } as const))(
    'has examples that match their schemas, with authentication by %s',
    async (auth) => {
      const document = await documentFor(auth);
      // Each component is compiled once, not again into every schema that refers to it.
      const quick = { inlineRefs: false, code: { optimize: false } };
      const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uuid: true }, ...quick });
      ajv.addSchema({ $id: 'openapi', ...document });
      const examples = mediaIn(document).filter(({ example }) => example !== undefined);
      expect(examples.length).toBeGreaterThan(ROUTES.length);
      const validators = new Map<string, ValidateFunction>();
      for (const { schema, example } of examples) {
        const text = rebased(schema);
        const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
        validators.set(text, validate);
        validate(example);
        expect({ example, errors: validate.errors ?? [] }).toEqual({ example, errors: [] });
      }
    },
  );

  it('contains no secrets in examples', async () => {
    expect(JSON.stringify(mediaIn(await documentFor('token')))).not.toMatch(/\.[0-9a-f]{32,}/);
  });
});

/** The text of the schema, with references into the document. */
function rebased(schema: object): string {
  return JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components');
}
