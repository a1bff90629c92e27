import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Flags, FlagsError, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { type FaultyStorage, faultyStorage } from '@flags/core/testing';
import { createFlagsRouter, type FlagsRouter } from '@flags/express';
import { instrumentFlags, instrumentStorage } from '@flags/opentelemetry';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { until } from '../../../test/until.js';
import { createApp, noteFault } from '../src/app.js';
import { listen, urlOf } from '../src/listen.js';
import { createMetrics } from '../src/metrics.js';

const RULES = join(__dirname, '../alerts.yml');
const GUIDE = join(__dirname, '../../../docs/operate.md');
const DEFAULT = { project: 'default' };
const MINUTE = 60_000;
const LOSSES = 'flags_history_losses_total{otel_scope_name="@flags/opentelemetry"}';

/** The reference server in this process, on a file of its own. */
interface Host {
  readonly flags: Flags;
  readonly storage: FaultyStorage;
  readonly url: string;
  readonly path: string;
  /** Another program with the file. */
  readonly other: Database.Database;
  /** Moves the clock of the flags. */
  advance(milliseconds: number): void;
}

let close: () => Promise<void> = async () => undefined;
afterEach(() => close());

async function startHost(): Promise<Host> {
  const directory = await mkdtemp(join(tmpdir(), 'flags-alerts-'));
  const path = join(directory, 'flags.db');
  const metrics = createMetrics();
  const { meterProvider } = metrics;
  const storage = faultyStorage(await sqliteStorage({ path, busyTimeout: 0 }));
  let ahead = 0;
  const advance = (milliseconds: number) => {
    ahead += milliseconds;
  };
  const flags = await openFlags({
    storage: instrumentStorage(storage, { meterProvider }),
    now: () => new Date(Date.now() + ahead),
    pollInterval: 20,
    usage: { interval: 0 },
    onError: () => undefined,
    onProblem: () => undefined,
    due: {
      run: true,
      authorize: () => Promise.reject(new Error('The permissions of the host cannot be read.')),
    },
  });
  instrumentFlags(flags, { meterProvider });
  const router: FlagsRouter = createFlagsRouter(flags, { auth: 'none', onError: noteFault });
  const app = createApp({ flags, router, logger: pino({ level: 'silent' }), metrics, access: { auth: 'none' } });
  const server: Server = await listen(app, { port: 0, host: '127.0.0.1', maxConnections: 100 });
  const other = new Database(path);
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  close = async () => {
    close = async () => undefined;
    storage.heal();
    other.close();
    router.close();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    await flags.close().catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  };
  return { flags, storage, url: urlOf(server), path, other, advance };
}

/** A sample line of a scrape: the series, and its value. */
type Scrape = ReadonlyMap<string, number>;

async function scrape({ url }: Pick<Host, 'url'>): Promise<Scrape> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return samplesIn(text);
}

/** Without the buckets of histograms, which no rule reads. */
function samplesIn(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket{'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/**
 * How the metrics go on after the fault.
 *
 * - `once`: they stay as they are.
 * - `lasts`: counters count at each step what they have counted in the fault; gauges stay.
 * - `grows`: gauges grow, too.
 * - `returns`: the fault happens again every ten steps.
 */
type Course = 'once' | 'lasts' | 'grows' | 'returns';

interface Scenario {
  readonly alert: string;
  readonly fault: string;
  readonly course: Course;
  /** Seconds between two samples. Default: 30. */
  readonly interval?: number;
  /** Causes the fault; the metrics are scraped before and after it. */
  readonly cause: (host: Host) => Promise<unknown>;
  /** Further metrics, of other programs, before and in the fault. */
  readonly beside?: readonly [before: string, during: string];
}

const reject = (call: Promise<unknown>) => expect(call).rejects.toMatchObject({ name: 'FlagsError' });

const SCENARIOS: readonly Scenario[] = [
  {
    alert: 'FlagsStale',
    fault: 'the storage is away',
    course: 'lasts',
    async cause({ flags, path, url }) {
      await rm(path);
      expect(await flags.refresh()).toMatchObject({ state: 'stale' });
      await reject(flags.createFlag(DEFAULT, { name: 'refused' }));
      expect((await fetch(`${url}/ready`)).status).toBe(503);
    },
  },
  {
    alert: 'FlagsStorageFailing',
    fault: 'another program locks the storage',
    course: 'lasts',
    async cause({ flags, other, url }) {
      other.exec('BEGIN IMMEDIATE');
      await reject(flags.createFlag(DEFAULT, { name: 'refused' }));
      const body = JSON.stringify({ name: 'refused' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/admin/projects/default/features`, { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ code: 'storage_busy' });
      other.exec('ROLLBACK');
    },
  },
  {
    alert: 'FlagsHistoryLost',
    fault: 'a failover loses changes',
    course: 'once',
    // Only a database server can lose them: its storage answers so, which the tests of PostgreSQL prove.
    async cause({ flags, storage, url }) {
      const fault = storage.inject({
        method: 'events',
        when: ({ input: [query] }) => 'order' in Object(query) && Object(query).order === 'oldest-first',
        error: new FlagsError('history_lost', 'The event is gone.'),
      });
      // A subscription counts the loss, and the replica notices it by a read of its own.
      await until(async () => ((await scrape({ url })).get(LOSSES) ?? 0) > 0);
      await until(() => flags.status().historyLostAt !== undefined);
      fault.remove();
      expect(await flags.refresh()).toMatchObject({ state: 'current', historyLostAt: expect.any(String) });
    },
  },
  {
    alert: 'FlagsLogGrowing',
    fault: 'a long reader keeps the write-ahead log from shrinking',
    course: 'grows',
    async cause({ flags, other }) {
      other.exec('BEGIN; SELECT count(*) FROM flags_events');
      for (let set = 0; set < 2; set++) {
        const input = (at: number) => ({ name: `flag-${set}-${at}`, description: 'x'.repeat(10_000) });
        await flags.apply(
          Array.from({ length: 50 }, (_, at) => ({ op: 'createFlag', ref: DEFAULT, input: input(at) }) as const),
        );
      }
      expect(flags.status().walBytes).toBeGreaterThan(2 ** 20);
    },
  },
  {
    alert: 'FlagsConsumerFailing',
    fault: 'the handler of a consumer fails at every repetition',
    course: 'lasts',
    async cause({ flags, advance }) {
      await flags.consume('webhook', () => {
        throw new Error('The receiver is down.');
      });
      await flags.createFlag(DEFAULT, { name: 'unsent' });
      await until(async () => (await flags.consumers.list()).items[0]?.error === 'The receiver is down.');
      advance(10 * MINUTE);
      expect(flags.status().consumers).toEqual({ running: 1, failing: 1 });
    },
  },
  {
    alert: 'FlagsConsumerBehind',
    fault: 'a consumer is behind, because its handler never ends',
    course: 'lasts',
    async cause({ flags, advance }) {
      let calls = 0;
      await flags.consume('webhook', (_events, { signal }) => {
        calls++;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      });
      await flags.createFlag(DEFAULT, { name: 'unsent' });
      await until(() => calls > 0);
      advance(10 * MINUTE);
      const { items } = await flags.consumers.list();
      expect(items).toMatchObject([{ name: 'webhook', lag: { events: 1 }, error: null }]);
      expect(flags.status().consumers).toEqual({ running: 1, failing: 0 });
    },
  },
  {
    alert: 'FlagsDueOverdue',
    fault: 'a change request is due, but the host cannot authorize it',
    course: 'lasts',
    async cause({ flags, advance }) {
      const at = new Date(Date.now() + MINUTE).toISOString();
      await flags.changeRequests.create([{ op: 'createFlag', ref: DEFAULT, input: { name: 'later' } }], { at });
      advance(2 * MINUTE);
      await flags.runDue();
      expect(flags.status().due).toMatchObject({ pending: 1, overdue: 1 });
    },
  },
  {
    alert: 'FlagsRolloutsUnguarded',
    fault: 'a guarded rollout runs where no guard is',
    course: 'lasts',
    async cause({ flags }) {
      const production = { ...DEFAULT, flag: 'guarded', environment: 'production' };
      await flags.createFlag(DEFAULT, { name: production.flag });
      const { id: strategy } = await flags.addStrategy(production, {
        name: 'flexibleRollout',
        parameters: { rollout: '5', stickiness: 'default', groupId: 'guarded' },
      });
      await flags.enable(production);
      await flags.rollouts.start({ ...production, strategy }, { steps: [{ percentage: 25 }], guarded: true });
      await flags.runDue();
      expect(flags.status().due?.unguarded).toBe(1);
    },
  },
  {
    alert: 'FlagsUsageDropped',
    fault: 'an application reports too many names of no flag',
    course: 'once',
    async cause({ flags }) {
      const counts = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`name-${at}`, { yes: 1, no: 0 }]));
      const now = new Date().toISOString();
      await flags.reportMetrics({ application: 'web', start: now, stop: now, counts });
      expect(flags.status().dropped?.names).toBeGreaterThan(0);
    },
  },
  {
    alert: 'FlagsErrors',
    fault: 'writing fails every few minutes',
    course: 'returns',
    async cause({ flags, storage }) {
      const fault = storage.inject({ method: 'commit', times: 1, nth: 1, error: new Error('The driver fails.') });
      await flags.createFlag(DEFAULT, { name: 'failing' }).catch(() => undefined);
      fault.remove();
    },
  },
  {
    alert: 'FlagsOutcomeUnknown',
    fault: 'the answer to a change is lost',
    course: 'once',
    async cause({ storage, url }) {
      storage.inject({ method: 'commit', nth: 1, point: 'after' });
      const body = JSON.stringify({ name: 'unknown' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/admin/projects/default/features`, { method: 'POST', headers, body });
      expect([answer.status, await answer.json()]).toEqual([504, expect.objectContaining({ code: 'outcome_unknown' })]);
    },
  },
  {
    alert: 'FlagsOverloaded',
    fault: 'heavy requests are refused every day',
    course: 'lasts',
    interval: 3600,
    async cause({ flags, url }) {
      const { secret } = await flags.tokens.create({ name: 'edge', kind: 'client', environment: 'production' });
      const headers = { 'content-type': 'application/json', authorization: secret };
      const ask = (at: number) =>
        fetch(`${url}/edge/validate`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ tokens: [`*:production.unknown-${at}`] }),
        });
      let refused: Response | undefined;
      await until(async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at)));
        refused = answers.find(({ status }) => status === 503);
        return refused !== undefined;
      });
      expect(await refused?.json()).toMatchObject({ code: 'overloaded' });
    },
  },
  {
    alert: 'FlagsDiskFull',
    fault: 'the disk is nearly full',
    course: 'lasts',
    cause: async () => undefined,
    // As the node exporter exports it: no part of ours measures the disk.
    beside: ['1e10', '5e8'].map((free) =>
      [
        'node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 2e10',
        `node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} ${free}`,
      ].join('\n'),
    ) as [string, string],
  },
];

/** Samples before the fault, and after it. */
const BEFORE = 60;
const AFTER = 120;

/** The values of a series over time. `_`: there is none. */
function valuesOf(name: string, { course }: Scenario, before: number | undefined, during: number | undefined): string {
  const isCounter = /_(total|count|sum)$/.test(name);
  const step = (during ?? 0) - (before ?? 0);
  const grows = course === 'grows' || (course !== 'once' && isCounter);
  const at = (sample: number) => {
    if (during === undefined) return '_';
    if (!grows) return `${during}`;
    return `${during + step * (course === 'returns' ? Math.floor(sample / 10) : sample)}`;
  };
  return [
    ...Array.from({ length: BEFORE }, () => before ?? '_'),
    ...Array.from({ length: AFTER }, (_, n) => at(n)),
  ].join(' ');
}

/** The input of `promtool test rules`: the alerts that have fired at the end of each time, whatever their labels are. */
function ruleTest(scenario: Scenario, before: Scrape, during: Scrape): string {
  const interval = scenario.interval ?? 30;
  const series = [...new Set([...before.keys(), ...during.keys()])].map((line) => {
    const [, name = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(line) ?? [];
    const all = [labels, 'instance="flags-1"', 'job="flags"'].filter(Boolean).join();
    return { series: `${name}{${all}}`, values: valuesOf(name, scenario, before.get(line), during.get(line)) };
  });
  const fired = (samples: number, alerts: readonly string[]) => ({
    expr: 'max by (alertname) (max_over_time(ALERTS{alertstate="firing"}[7d]))',
    eval_time: `${samples * interval}s`,
    exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  });
  // JSON is YAML.
  return JSON.stringify({
    rule_files: [RULES],
    evaluation_interval: `${interval}s`,
    tests: [
      {
        interval: `${interval}s`,
        input_series: series,
        promql_expr_test: [fired(BEFORE - 1, []), fired(BEFORE + AFTER - 1, [scenario.alert])],
      },
    ],
  });
}

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const SKIPPED = 'need promtool, which comes with the package prometheus of Debian: it is not installed';

async function promtool(...input: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('promtool', input)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${stdout}${stderr}`);
  }
}

describe('the alert rules', () => {
  const alertsIn = async (file: string, pattern: RegExp) =>
    [...(await readFile(file, 'utf8')).matchAll(pattern)].map(([, name]) => name);

  it('are those of the guide, and each has a fault that fires it', async () => {
    const alerts = await alertsIn(RULES, /- alert: (\w+)/g);
    expect((await alertsIn(GUIDE, /^- `(Flags\w+)`/gm)).sort()).toEqual([...alerts].sort());
    expect(SCENARIOS.map(({ alert }) => alert).sort()).toEqual([...alerts].sort());
  });

  if (!hasPromtool) {
    it.skip(SKIPPED, () => undefined);
    return;
  }

  it('are valid', async () => {
    expect(await promtool('check', 'rules', RULES)).toContain(`SUCCESS: ${SCENARIOS.length} rules found`);
  });

  it.each(SCENARIOS.map((scenario) => [scenario.alert, scenario.fault, scenario] as const))(
    'fire %s, and no other alert, when %s',
    async (_alert, _fault, scenario) => {
      const host = await startHost();
      const [beside, besideInFault] = (scenario.beside ?? ['', '']).map(samplesIn);
      const before = new Map([...(await scrape(host)), ...(beside ?? [])]);
      await scenario.cause(host);
      const during = new Map([...(await scrape(host)), ...(besideInFault ?? [])]);
      const file = `${host.path}.rules-test.json`;
      await writeFile(file, ruleTest(scenario, before, during));
      expect(await promtool('test', 'rules', file)).toContain('SUCCESS');
    },
  );
});
