import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Specification, SpecifiedFlag, SpecifiedSegment, SpecifiedStrategy } from './specification.js';
import type { UnleashServer } from './unleash-process.js';

export const ENVIRONMENT = 'development';
const FEATURES = '/api/admin/projects/default/features';

/** Strategies of the specification that a current Unleash does not have any more. */
const FORMER_STRATEGIES = {
  userWithId: 'userIds',
  gradualRolloutUserId: 'percentage',
  gradualRolloutSessionId: 'percentage',
  gradualRolloutRandom: 'percentage',
};

/** How many parts of flags the admin API has created, and how many it has refused. */
export interface Written {
  requests: number;
  refused: number;
  /** Parts that this release has no place for, such as parent flags. */
  impossible: number;
}

/**
 * Creates the flags of the specification through the admin API. What that refuses, such as an invalid constraint, is written to
 * the tables: an earlier release, or another program, may have left it there.
 */
export async function writeSpecifiedFlags(
  server: UnleashServer,
  database: string,
  specifications: readonly Specification[],
): Promise<Written> {
  const client = new Client(database);
  await client.connect();
  try {
    const writer = new Writer(server, client);
    for (const [name, parameter] of Object.entries(FORMER_STRATEGIES)) {
      const parameters = [{ name: parameter, type: 'string', description: '', required: false }];
      await server.ask('POST /api/admin/strategies', { name, description: '', parameters });
    }
    await writer.readColumns();
    for (const specification of specifications) await writer.write(specification);
    return writer.written;
  } finally {
    await client.end();
  }
}

class Writer {
  readonly written: Written = { requests: 0, refused: 0, impossible: 0 };
  private columns: ReadonlySet<string> = new Set();
  /** The id of each segment of the current specification in the server. */
  private segments = new Map<number, number>();
  private isSegmentInTables = false;

  constructor(
    private readonly server: UnleashServer,
    private readonly client: Client,
  ) {}

  async readColumns(): Promise<void> {
    const { rows } = await this.client.query(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    this.columns = new Set(rows.map(({ name }) => name as string));
  }

  async write({ name, segments, flags }: Specification): Promise<void> {
    this.segments = new Map();
    for (const segment of segments) await this.writeSegment(`${name} ${segment.id}`, segment);
    for (const flag of flags) await this.writeFlag(flag);
    for (const flag of flags) await this.writeDependencies(flag);
  }

  private async writeSegment(name: string, { id, constraints }: SpecifiedSegment): Promise<void> {
    const { ok, body } = await this.request('POST /api/admin/segments', { name, constraints });
    if (ok) {
      this.segments.set(id, (body as { readonly id: number }).id);
      return;
    }
    this.isSegmentInTables = true;
    const { rows } = await this.client.query('INSERT INTO segments (name, constraints) VALUES ($1, $2) RETURNING id', [
      name,
      JSON.stringify(constraints),
    ]);
    this.segments.set(id, rows[0]?.id as number);
  }

  private async writeFlag({ name, enabled, impressionData = false, strategies = [], variants = [] }: SpecifiedFlag) {
    const path = `${FEATURES}/${encodeURIComponent(name)}`;
    const place = `${path}/environments/${ENVIRONMENT}`;
    if (!(await this.request(`POST ${FEATURES}`, { name, type: 'release', impressionData })).ok) {
      const row = [name, impressionData];
      await this.client.query(
        `INSERT INTO features (name, project, type, impression_data) VALUES ($1, 'default', 'release', $2)`,
        row,
      );
      await this.client.query(
        'INSERT INTO feature_environments (feature_name, environment, enabled) VALUES ($1, $2, false)',
        [name, ENVIRONMENT],
      );
    }
    for (const [order, strategy] of strategies.entries()) await this.writeStrategy(name, strategy, order);
    if (variants.length > 0 && !(await this.request(`PUT ${place}/variants`, variants)).ok) {
      await this.updateEnvironment(name, 'variants', JSON.stringify(variants));
    }
    // The admin API adds a strategy to a flag that has none.
    const isOn = !enabled || (strategies.length > 0 && (await this.request(`POST ${place}/on`)).ok);
    if (!isOn) await this.updateEnvironment(name, 'enabled', true);
  }

  private async updateEnvironment(flag: string, column: 'enabled' | 'variants', value: unknown): Promise<void> {
    await this.client.query(
      `UPDATE feature_environments SET ${column} = $3 WHERE feature_name = $1 AND environment = $2`,
      [flag, ENVIRONMENT, value],
    );
  }

  private async writeStrategy(flag: string, strategy: SpecifiedStrategy, order: number): Promise<void> {
    const { segments = [], ...rest } = strategy;
    const ids = segments.flatMap((id) => this.segments.get(id) ?? []);
    const hasVariants = rest.variants === undefined || this.columns.has('feature_strategies.variants');
    const canAsk = hasVariants && ids.length === segments.length && !(this.isSegmentInTables && ids.length > 0);
    const path = `${FEATURES}/${encodeURIComponent(flag)}/environments/${ENVIRONMENT}/strategies`;
    const body = { ...rest, ...(segments.length > 0 && { segments: ids }) };
    if (canAsk && (await this.request(`POST ${path}`, body)).ok) return;
    if (!hasVariants) this.written.impossible += 1;
    const id = randomUUID();
    const { name, parameters = {}, constraints = [], variants = [] } = strategy;
    const row = [id, flag, ENVIRONMENT, name, JSON.stringify(parameters), JSON.stringify(constraints), order];
    await this.client.query(
      `INSERT INTO feature_strategies
        (id, feature_name, project_name, environment, strategy_name, parameters, constraints, sort_order)
        VALUES ($1, $2, 'default', $3, $4, $5, $6, $7)`,
      row,
    );
    if (hasVariants && variants.length > 0) {
      await this.client.query('UPDATE feature_strategies SET variants = $2 WHERE id = $1', [
        id,
        JSON.stringify(variants),
      ]);
    }
    for (const segment of ids) {
      const link = [id, segment];
      await this.client.query(
        'INSERT INTO feature_strategy_segment (feature_strategy_id, segment_id) VALUES ($1, $2)',
        link,
      );
    }
  }

  private async writeDependencies({ name, dependencies = [] }: SpecifiedFlag): Promise<void> {
    for (const dependency of dependencies) {
      if (!this.columns.has('dependent_features.parent')) {
        this.written.impossible += 1;
        continue;
      }
      const path = `${FEATURES}/${encodeURIComponent(name)}/dependencies`;
      if ((await this.request(`POST ${path}`, dependency)).ok) continue;
      const { feature, enabled = true, variants = [] } = dependency;
      const row = [name, feature, enabled, JSON.stringify(variants)];
      await this.client
        .query('INSERT INTO dependent_features (child, parent, enabled, variants) VALUES ($1, $2, $3, $4)', row)
        // The tables refuse a parent that does not exist.
        .catch(() => {
          this.written.impossible += 1;
        });
    }
  }

  private async request(request: string, body?: unknown) {
    const response = await this.server.ask(request, body);
    this.written.requests += 1;
    if (!response.ok) this.written.refused += 1;
    return response;
  }
}
