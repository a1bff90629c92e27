import type { Route } from '../../src/api/route.js';
import { ROUTES } from '../../src/routes.js';
import { HOSTILE_BODIES, hostileMembers, longQuery, manyTags } from './bodies.js';
import type { SECRETS } from './definitions.js';
import { type BudgetRow, pathOf } from './row.js';
import { OTHER_ADMIN_ROWS, PROJECT_ROWS } from './rows-admin.js';
import { CHANGE_ROWS } from './rows-changes.js';
import { CLIENT_ROWS } from './rows-client.js';
import { FLAG_ROWS, STRATEGY_ROWS } from './rows-flags.js';
import { TOGETHER_ROWS } from './rows-together.js';

export type Kind = keyof typeof SECRETS | 'nobody';

/** A row of the table: a route, a token, and a request. */
export interface Case {
  readonly route: Route;
  readonly kind: Kind;
  readonly row: BudgetRow;
}

/** The additional requests of each route. The test fails for a write without an entry. */
export const ROWS: Readonly<Partial<Record<string, readonly BudgetRow[]>>> = merged(
  PROJECT_ROWS,
  FLAG_ROWS,
  STRATEGY_ROWS,
  OTHER_ADMIN_ROWS,
  CLIENT_ROWS,
  CHANGE_ROWS,
  TOGETHER_ROWS,
);

function merged(...tables: readonly Readonly<Record<string, readonly BudgetRow[]>>[]) {
  const rows: Record<string, readonly BudgetRow[]> = {};
  for (const [action, more] of tables.flatMap(Object.entries<readonly BudgetRow[]>)) {
    rows[action] = [...(rows[action] ?? []), ...more];
  }
  return rows;
}

const KINDS = { admin: ['admin'], client: ['client'], frontend: ['frontend'], ofrep: ['client', 'frontend'] } as const;
const ALL_KINDS: readonly Kind[] = ['admin', 'client', 'frontend', 'nobody'];

/** `short`: some of the rows of each route. */
export type Extent = 'short' | 'full';

/** The number of common rows that each route gets; the next route gets the next ones. */
const COMMON_SHARE = 1;
/** The maximum number of repetitions in the short form. */
const SHORT_TIMES = 3;

/**
 * Every route, every token: changes first, so that reads meet the worst state.
 *
 * @param part which of the rows of each route the short form takes: tests of two storages take different ones
 */
export function casesIn(extent: Extent, part = 0): readonly Case[] {
  const ordered = [...ROUTES].sort((one, other) => Number(one.method === 'GET') - Number(other.method === 'GET'));
  if (extent === 'full') return ordered.flatMap(casesOf);
  return ordered.flatMap((route, index) =>
    shortened(
      casesOf(route, index).filter(({ row }) => !row.isLong),
      index + part,
    ),
  );
}

/** One in four of the rows that should be admitted, at least one, the mixed ones, and the refused ones. */
function shortened(cases: readonly Case[], part: number): readonly Case[] {
  const every = Math.max(1, Math.min(4, cases.length - 1));
  return cases
    .filter(({ row }, at) => row.isStranger || row.mix || at === cases.length - 1 || at % every === part % every)
    .map((one) => ({ ...one, row: { ...one.row, ...timesOf(one.row) } }));
}

/** Only the mixed rows come in full number. */
function timesOf({ times, mix }: BudgetRow): Pick<BudgetRow, 'times'> {
  return times === undefined || mix ? {} : { times: Math.min(times, SHORT_TIMES) };
}

/** @param index of the route, which selects its share of the common rows */
function casesOf(route: Route, index: number): readonly Case[] {
  const share = <T>(all: readonly T[], count: number) => {
    const start = (index * count) % Math.max(1, all.length);
    return all.filter((_, at) => (at - start + all.length) % all.length < count);
  };
  const admitted: readonly Kind[] = KINDS[route.access];
  const refused = ALL_KINDS.filter((kind) => !admitted.includes(kind));
  const rows = [...plainRows(route), ...(ROWS[route.action] ?? []), ...share(commonRows(route), COMMON_SHARE)];
  return [
    ...admitted.flatMap((kind) =>
      rows.map((row) => ({ route, kind: row.isStranger ? 'stranger' : kind, row }) as Case),
    ),
    ...share(refused, 1).map((kind) => ({
      route,
      kind,
      row: { name: 'array of numbers', body: HOSTILE_BODIES['array of numbers'] } as BudgetRow,
    })),
  ];
}

/** Some routes have no answer for the default parameters. */
const WITHOUT_PLAIN: readonly string[] = ['listStrategySegments', 'getClientFlag', 'getChange', 'getChangeRequest'];

function plainRows({ action, method }: Route): readonly BudgetRow[] {
  return method === 'GET' && !WITHOUT_PLAIN.includes(action) ? [{ name: 'plain', isGranted: true }] : [];
}

/** The common requests of routes of this form. */
function commonRows(route: Route): readonly BudgetRow[] {
  const path = pathOf(route.path);
  const rows: BudgetRow[] = [];
  if (route.method === 'GET') {
    rows.push({ name: 'long If-None-Match', headers: { 'if-none-match': manyTags() } });
    rows.push({ name: 'long query', path: `${path}?${longQuery()}` });
  }
  if (route.paged) rows.push({ name: 'limit=1000', path: `${path}?limit=1000`, isGranted: true });
  if (route.ifMatch) rows.push({ name: 'long If-Match', headers: { 'if-match': manyTags() }, body: () => '{}' });
  if (!route.body) return rows;
  const bodies = { ...HOSTILE_BODIES, ...hostileMembers(membersOf(route.action)) };
  return [...rows, ...Object.entries(bodies).map(([name, body]) => ({ name, body }))];
}

/** The members of bodies whose contents are read. */
function membersOf(action: string): readonly string[] {
  return BODY_MEMBERS[action] ?? [];
}

const FLAG = ['name', 'description', 'type', 'impressionData', 'stale', 'labels', 'owner'];
const STRATEGY = ['name', 'parameters', 'constraints', 'segments', 'variants', 'title', 'sortOrder', 'disabled'];
const SEGMENT = ['name', 'description', 'constraints'];
const REGISTRATION = ['appName', 'instanceId', 'sdkVersion', 'strategies', 'started', 'interval'];
const REPORT = ['appName', 'instanceId', 'bucket'];
const BODY_MEMBERS: Partial<Record<string, readonly string[]>> = {
  createProject: ['id', 'name', 'description'],
  updateProject: ['name', 'description'],
  createFlag: FLAG,
  updateFlag: FLAG,
  cloneFlag: ['name'],
  addFlagTag: ['type', 'value'],
  validateFlagName: ['name'],
  validateSegmentName: ['name'],
  validateConstraint: ['contextName', 'operator', 'value', 'values'],
  setStrategySegments: ['projectId', 'environmentId', 'strategyId', 'segmentIds'],
  setStaleFlags: ['features', 'stale'],
  searchEvents: ['type', 'project', 'feature', 'query'],
  updateFlagTags: ['addedTags', 'removedTags'],
  addStrategy: STRATEGY,
  updateStrategy: STRATEGY,
  addDependency: ['feature', 'enabled', 'variants'],
  createSegment: SEGMENT,
  applyChanges: ['id', 'reason', 'ifRevision', 'changes'],
  importDefinitions: ['definitions', 'prune', 'dryRun', 'reason'],
  previewChanges: ['changes', 'environment', 'contexts'],
  updateSegment: SEGMENT,
  explainFlags: ['environment', 'project', 'flag', 'context'],
  resetConsumer: ['from'],
  createToken: ['username', 'type', 'environment', 'project', 'expiresAt', 'projects'],
  verifyTokens: ['tokens'],
  registerApplication: REGISTRATION,
  registerFrontend: REGISTRATION,
  reportMetrics: REPORT,
  reportFrontendMetrics: REPORT,
  reportMetricsInBulk: ['applications', 'metrics'],
  evaluateFlagsForContext: ['context'],
  resolveFlag: ['context'],
  resolveFlags: ['context'],
};
