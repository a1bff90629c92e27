import { join } from 'node:path';
import { type Flags, memoryStorage, openFlags } from '@flags/core';
import { type InputSchemas, inputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { type Mutant, mutantsOf } from '../../../core/test/refusals/mutants.js';
import { type Refusal, type RefusalTable, recorded, toRefusal } from '../../../core/test/refusals/table.js';
import { toFetchHandler } from '../../src/adapters/fetch.js';
import { queryParametersOf } from '../../src/api/query.js';
import type { QueryParameter, Route } from '../../src/api/route.js';
import { createFlagsApi } from '../../src/create-flags-api.js';
import { REFERRED, schemaFrom } from '../../src/messages/schema.js';
import { ROUTES } from '../../src/routes.js';

const PARAMETERS: Readonly<Record<string, string>> = {
  projectId: 'default',
  featureName: 'f',
  environment: 'production',
  strategyId: 's',
  segmentId: '1',
};

function addressOf({ path }: Route): string {
  return `http://localhost${path.replace(/[:{](\w+)\??}?/g, (_, name: string) => PARAMETERS[name] ?? 'x')}`;
}

/** Replaces references to components by their schemas. */
function withoutReferences(schema: JsonSchema, inputs: InputSchemas): JsonSchema {
  if (REFERRED in schema) return withoutReferences(schemaFrom(schema[REFERRED as never] as JsonSchema, inputs), inputs);
  const parts = Object.entries(schema).map(([keyword, part]) => [
    keyword,
    Array.isArray(part) || typeof part !== 'object' || part === null
      ? part
      : withoutReferences(part as JsonSchema, inputs),
  ]);
  return Object.fromEntries(parts);
}

function bodiesOf({ body }: Route, inputs: InputSchemas): readonly Mutant[] {
  if (body === undefined) return [];
  const mutants = [...mutantsOf(withoutReferences(schemaFrom(body.schema, inputs), inputs))];
  // The typed API is tested with all of what the core checks.
  const most = body.checkedBy === 'core' ? 8 : 40;
  const step = Math.max(1, Math.ceil(mutants.length / most));
  return mutants.filter((_, index) => index % step === 0);
}

function queriesOf(parameters: readonly QueryParameter[]): readonly string[] {
  const all = parameters.map(({ name }) => `${name}=no%20such`).join('&');
  const each = parameters.flatMap(({ name }) =>
    ['', '-1', '1.5', '1e9', 'null', 'x'.repeat(300), `x&${name}=y`].map((value) => `${name}=${value}`),
  );
  return parameters.length === 0 ? [] : [all, ...each];
}

async function tableOf(flags: Flags): Promise<RefusalTable> {
  const inputs = inputSchemas(flags.settings);
  const handle = toFetchHandler(createFlagsApi(flags, { auth: 'none' }));
  const table: Record<string, Record<string, Refusal>> = {};

  async function add(route: Route, label: string, request: Request): Promise<void> {
    const reply = await handle(request);
    if (reply.status !== 400) {
      await reply.body?.cancel();
      return;
    }
    const body = JSON.parse(await reply.text());
    const { message, details } = Array.isArray(body) ? { message: 'legacy', details: body } : body;
    const refusal = toRefusal(String(message ?? body.errorDetails ?? body.errorCode), details);
    const rows = table[`${route.method} ${route.path}`] ?? {};
    table[`${route.method} ${route.path}`] = rows;
    rows[label] = refusal;
  }

  const headers = { 'content-type': 'application/json' };
  for (const route of ROUTES) {
    const url = addressOf(route);
    const method = route.method.toUpperCase();
    for (const query of queriesOf(queryParametersOf(route))) {
      const body = route.body === undefined ? {} : { body: '{}', headers };
      const label = `?${query.length > 60 ? `${query.slice(0, 50)}…` : query}`;
      await add(route, label, new Request(`${url}?${query}`, { method, ...body }));
    }
    for (const [label, value] of bodiesOf(route, inputs)) {
      await add(route, label, new Request(url, { method, headers, body: JSON.stringify(value) ?? 'null' }));
    }
  }
  return table;
}

it('refuses requests over HTTP with the messages and the paths that were recorded', async () => {
  const flags: Flags = await openFlags({ storage: memoryStorage(), pollInterval: 0 });
  await flags.createFlag({ project: 'default' }, { name: 'f' });
  const table = await tableOf(flags);
  await flags.close();
  expect(table).toEqual(recorded(join(__dirname, 'refusals.json'), table));
  expect(Object.values(table).flatMap((refusals) => Object.keys(refusals)).length).toBeGreaterThan(500);
});
