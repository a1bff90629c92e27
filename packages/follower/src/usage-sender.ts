import { randomUUID } from 'node:crypto';
import { LIMITS } from '@flags/core';
import { boundedSum, type FlagUsage, hourOfPeriod, parseClientTime } from '@flags/core/integration/follower';
import type { BulkReport, ClientRegistration, MetricsReport, ReportOrigin } from '@flags/core/types';
import { createDeadline, jitter, type Times } from './times.js';
import { type Upstream, UpstreamFailure } from './upstream.js';

const HOUR = 3_600_000;
/** Rows in one request, and characters: a server of Unleash reads bodies of 100 KB. */
const BATCH_ROWS = 2_000;
const BATCH_LENGTH = 90_000;
/** Rows that are kept while the server is away. Beyond it, the oldest are dropped. */
const MAX_ROWS = 10_000;
/** Registrations that wait for the next sending. */
const MAX_REGISTRATIONS = 1_000;
/** The most applications that browsers may report: half of the number that the server allows for one token. */
const MAX_PUBLIC_APPLICATIONS = LIMITS.applicationsPerToken / 2;
/** Counts of applications beyond the limits. */
const OTHER = 'other';

/** The counts of one flag. */
interface Row {
  yes: number;
  no: number;
  readonly variants: Map<string, number>;
}

/** The counts of one application in one hour. */
interface Group {
  readonly application: string;
  /** Milliseconds since 1970: the latest end of a reported period in that hour. */
  at: number;
  readonly rows: Map<string, Row>;
}

/** What one request sends. A repeated request has the same id, so that it counts once. */
interface Batch {
  readonly id: string;
  readonly registrations: readonly ClientRegistration[];
  readonly groups: readonly Group[];
}

/** Numbers of items that limits have dropped. */
export interface DroppedCounts {
  readonly names: number;
  readonly reports: number;
  readonly usage: number;
}

/** Adds up counts, and sends them upstream. */
export interface UsageSender {
  /** Adds up valid reports. */
  record(bulk: BulkReport, origin?: ReportOrigin): void;
  readonly dropped: DroppedCounts;
  /** Sends what is pending, within the time for closing, and stops. */
  close(): Promise<void>;
}

export interface UsageSenderOptions {
  readonly upstream: Upstream;
  readonly environment: () => string;
  /** The flag of this name, if there is one that the follower sees. */
  readonly flag: (name: string) => FlagVariants | undefined;
  /** Returns and resets the counts of own evaluations. */
  readonly drain: () => readonly FlagUsage[];
  readonly application: string;
  readonly instance: string;
  /** Names of the strategies that this process evaluates. */
  readonly strategies: readonly string[];
  /** Milliseconds; 0 disables the timer. */
  readonly interval: number;
  readonly now: () => number;
  readonly times: Times;
  readonly onError: (error: unknown) => void;
}

/** The variants that a flag can result in. */
export interface FlagVariants {
  readonly project: string;
  readonly variants: ReadonlySet<string>;
}

export function createUsageSender(options: UsageSenderOptions): UsageSender {
  const { interval, now, times, drain, onError } = options;
  const sums = new Sums(options);
  const closing = new AbortController();
  let pending: Batch[] = [];
  let latest: Promise<void> = Promise.resolve();
  let isReported = false;
  let isClosed = false;

  /** Adds up own evaluations even if earlier batches cannot be sent. */
  async function send(): Promise<void> {
    addOwn();
    try {
      await sendPending();
      pending = sums.take();
      await sendPending();
      isReported = false;
    } catch (error) {
      if (!isReported || isClosed) onError(error);
      isReported = true;
    }
    dropExcess();
  }

  function addOwn(): void {
    const counts = drain();
    if (counts.length === 0) return;
    const { application, instance, strategies } = options;
    const at = now();
    sums.register({ application, instance, strategies }, undefined);
    for (const { flag, yes, no, variants } of counts) {
      const byVariant = Object.fromEntries(variants.map(({ variant, count }) => [variant, count]));
      sums.add({ application, at, flag, counts: { yes, no, variants: byVariant } });
    }
  }

  async function sendPending(): Promise<void> {
    for (let [batch] = pending; batch !== undefined; [batch] = pending) {
      const onRefused = () => sums.drop(rowsOf([batch]));
      const rest = await sendBatch(batch, { ...options, signal: closing.signal, onRefused });
      pending = [...rest, ...pending.slice(1)];
    }
  }

  function dropExcess(): void {
    while (pending.length > 0 && rowsOf(pending) + sums.rows > MAX_ROWS) sums.drop(rowsOf(pending.splice(0, 1)));
    sums.dropOldest(MAX_ROWS);
  }

  function flush(): Promise<void> {
    latest = latest.then(send);
    return latest;
  }

  let timer: NodeJS.Timeout | undefined;
  const flushLater = () => {
    timer = setTimeout(() => void flush().then(() => isClosed || flushLater()), jitter(interval)).unref();
  };
  if (interval > 0) flushLater();

  return {
    record({ registrations = [], reports = [] }, origin) {
      for (const registration of registrations) sums.register(registration, origin);
      for (const report of reports) sums.report(report, origin);
      // Sends early, before counts would be dropped. Not while earlier batches wait for a server that does not answer.
      if (sums.rows >= MAX_ROWS / 2 && pending.length === 0) void flush();
      else dropExcess();
    },
    get dropped() {
      return sums.dropped;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      setTimeout(() => closing.abort(new Error('the follower is closed')), times.close).unref();
      await flush();
    },
  };
}

function rowsOf(batches: readonly Batch[]): number {
  return batches.reduce((sum, { groups }) => groups.reduce((rows, group) => rows + group.rows.size, sum), 0);
}

/** Counts of a flag in a report. */
interface Count {
  readonly application: string;
  readonly at: number;
  readonly hour?: number;
  readonly flag: string;
  readonly counts: MetricsReport['counts'][string];
}

/** The counts since the last sending, and the bounds of what clients may invent. */
class Sums {
  rows = 0;
  dropped: DroppedCounts = { names: 0, reports: 0, usage: 0 };
  private groups = new Map<string, Group>();
  private registrations = new Map<string, ClientRegistration>();
  /** Unknown names since the last sending, by application. */
  private unknown = new Map<string, Set<string>>();
  private unknownNames = 0;
  /** The token that each application counts for; '' for the follower itself. */
  private readonly owners = new Map<string, string>();
  private readonly owned = new Map<string, number>();
  private publicApplications = 0;

  constructor(private readonly options: UsageSenderOptions) {
    this.owners.set(options.application, '');
    this.owners.set(OTHER, '');
  }

  register(registration: ClientRegistration, origin: ReportOrigin | undefined): void {
    const { application, instance = 'default' } = registration;
    if (!this.admit(application, origin)) {
      this.dropReport();
      return;
    }
    const key = JSON.stringify([application, instance]);
    this.registrations.delete(key);
    this.registrations.set(key, registration);
    const [oldest = key] = this.registrations.keys();
    if (this.registrations.size <= MAX_REGISTRATIONS) return;
    this.registrations.delete(oldest);
    this.dropReport();
  }

  /** Counts the flags that the caller may see, and a bounded number of other names. */
  report(report: MetricsReport, origin: ReportOrigin | undefined): void {
    const { now, flag: find } = this.options;
    const stop = Math.min(parseClientTime(report.stop) ?? now(), now());
    const hour = hourOfPeriod(report, stop);
    const isAdmitted = this.admit(report.application, origin);
    if (!isAdmitted) this.dropReport();
    const application = isAdmitted ? report.application : OTHER;
    for (const [flag, counts] of Object.entries(report.counts)) {
      const found = find(flag);
      const isVisible = found === undefined || (origin?.projects?.includes(found.project) ?? true);
      const isCounted = found ? isVisible : isAdmitted && this.admitName(application, flag);
      if (isCounted)
        this.add({ application, at: Math.min(stop, hour + HOUR - 1), hour, flag, counts: known(counts, found) });
      else this.dropped = { ...this.dropped, names: this.dropped.names + 1 };
    }
  }

  add({ application, at, hour = at - (at % HOUR), flag, counts: { yes, no, variants = {} } }: Count): void {
    const key = JSON.stringify([application, hour]);
    const group = this.groups.get(key) ?? { application, at, rows: new Map<string, Row>() };
    this.groups.set(key, group);
    group.at = Math.max(group.at, at);
    const row = group.rows.get(flag) ?? { yes: 0, no: 0, variants: new Map<string, number>() };
    if (!group.rows.has(flag)) this.rows += 1;
    group.rows.set(flag, row);
    row.yes = boundedSum(row.yes, yes);
    row.no = boundedSum(row.no, no);
    for (const [variant, count] of Object.entries(variants)) {
      row.variants.set(variant, boundedSum(row.variants.get(variant) ?? 0, count));
    }
  }

  /** Returns all counts in batches, and resets them. */
  take(): Batch[] {
    const registrations = batchesOf([...this.registrations.values()], (one) => JSON.stringify(one).length);
    const rows = [...this.groups.values()].flatMap((group) =>
      [...group.rows].map(([flag, row]) => ({ group, flag, row })),
    );
    const counts = batchesOf(rows, ({ group, flag, row }) => {
      return 200 + group.application.length + flag.length + JSON.stringify([...row.variants]).length;
    });
    this.groups = new Map();
    this.registrations = new Map();
    this.unknown = new Map();
    this.unknownNames = 0;
    this.rows = 0;
    return [
      ...registrations.map((some) => ({ id: randomUUID(), registrations: some, groups: [] })),
      ...counts.map((some) => ({ id: randomUUID(), registrations: [], groups: groupsOf(some) })),
    ];
  }

  drop(rows: number): void {
    this.dropped = { ...this.dropped, usage: this.dropped.usage + rows };
  }

  dropOldest(limit: number): void {
    for (const [key, group] of this.groups) {
      for (const flag of group.rows.keys()) {
        if (this.rows <= limit) return;
        group.rows.delete(flag);
        this.rows -= 1;
        this.drop(1);
      }
      this.groups.delete(key);
    }
  }

  private dropReport(): void {
    this.dropped = { ...this.dropped, reports: this.dropped.reports + 1 };
  }

  private admitName(application: string, name: string): boolean {
    const names = this.unknown.get(application) ?? new Set();
    if (names.has(name)) return true;
    if (this.unknownNames >= LIMITS.unknownNamesPerBatch || names.size >= LIMITS.unknownNamesPerApplication)
      return false;
    this.unknown.set(application, names.add(name));
    this.unknownNames += 1;
    return true;
  }

  /** All reports have the token of the follower, and the server limits the applications of a token. */
  private admit(application: string, origin: ReportOrigin | undefined): boolean {
    if (this.owners.has(application)) return true;
    const { token = '', isPublic = false } = origin?.reporter ?? {};
    const owned = this.owned.get(token) ?? 0;
    if (this.owners.size >= LIMITS.applicationsPerToken) return false;
    if (isPublic && owned >= LIMITS.applicationsPerFrontendToken) return false;
    if (isPublic && this.publicApplications >= MAX_PUBLIC_APPLICATIONS) return false;
    this.owners.set(application, token);
    this.owned.set(token, owned + 1);
    if (isPublic) this.publicApplications += 1;
    return true;
  }
}

/** Returns the counts without variants that the flag does not have. Anybody may invent those. */
function known(counts: Count['counts'], flag: FlagVariants | undefined): Count['counts'] {
  const { yes, no, variants = {} } = counts;
  const given = Object.entries(variants).filter(([name, count]) => count > 0 && flag?.variants.has(name));
  return { yes, no, variants: Object.fromEntries(given) };
}

/** Splits a list into runs of bounded count and length: at least one item each. */
function batchesOf<Item>(items: readonly Item[], lengthOf: (item: Item) => number): readonly (readonly Item[])[] {
  const batches: Item[][] = [];
  let length = 0;
  for (const item of items) {
    const added = lengthOf(item);
    const batch = batches.at(-1);
    if (batch && batch.length < BATCH_ROWS && length + added <= BATCH_LENGTH) batch.push(item);
    else batches.push([item]);
    length = batch === batches.at(-1) ? length + added : added;
  }
  return batches;
}

/** Returns the groups of some of their rows. */
function groupsOf(
  rows: readonly { readonly group: Group; readonly flag: string; readonly row: Row }[],
): readonly Group[] {
  const groups = new Map<Group, Group>();
  for (const { group, flag, row } of rows) {
    const part = groups.get(group) ?? { ...group, rows: new Map<string, Row>() };
    groups.set(group, part);
    part.rows.set(flag, row);
  }
  return [...groups.values()];
}

interface Sending extends Pick<UsageSenderOptions, 'upstream' | 'environment' | 'times' | 'onError'> {
  /** Called for a batch that the server refuses. */
  readonly onRefused: () => void;
  readonly signal: AbortSignal;
}

/** Sends a batch. Returns what remains to be sent: nothing, or what the server without a bulk route has not taken. */
async function sendBatch(batch: Batch, sending: Sending): Promise<readonly Batch[]> {
  const { onError, onRefused, environment } = sending;
  try {
    await post({ path: '/api/client/metrics/bulk', body: bulkOf(batch, environment()), id: batch.id }, sending);
    return [];
  } catch (error) {
    const status = error instanceof UpstreamFailure ? error.status : undefined;
    if (status === 404) return sendEach(batch, sending);
    // The server refuses this batch, and would refuse it again.
    if (status !== 400 && status !== 413 && status !== 422) throw error;
    onError(error);
    onRefused();
    return [];
  }
}

/** Sends the registrations and groups of a batch one by one, counted at least once. */
async function sendEach({ groups, registrations }: Batch, sending: Sending): Promise<readonly Batch[]> {
  for (const registration of registrations) {
    await post({ path: '/api/client/register', body: applicationOf(registration) }, sending);
  }
  const [group, ...rest] = groups;
  if (group === undefined) return [];
  const toggles = Object.fromEntries([...group.rows].map(([flag, row]) => [flag, countsOf(row)]));
  const at = new Date(group.at).toISOString();
  const body = {
    appName: group.application,
    instanceId: 'default',
    environment: sending.environment(),
    bucket: { start: at, stop: at, toggles },
  };
  await post({ path: '/api/client/metrics', body }, sending);
  return rest.length > 0 ? [{ id: randomUUID(), registrations: [], groups: rest }] : [];
}

interface Post {
  readonly path: string;
  readonly body: object;
  readonly id?: string;
}

async function post({ path, body, id }: Post, { upstream, times, signal }: Sending): Promise<void> {
  const deadline = createDeadline(signal, times.request);
  try {
    const headers = id === undefined ? {} : { 'idempotency-key': id };
    await upstream.tell({ path, body, headers, signal: deadline.signal });
  } finally {
    deadline.end();
  }
}

function bulkOf({ registrations, groups }: Batch, environment: string): object {
  return {
    applications: registrations.map((registration) => ({ ...applicationOf(registration), environment })),
    metrics: groups.flatMap(({ application, at, rows }) => {
      const about = { appName: application, environment, timestamp: new Date(at).toISOString() };
      return [...rows].map(([featureName, row]) => ({ ...about, featureName, ...countsOf(row) }));
    }),
  };
}

function applicationOf({ application, instance = 'default', ...about }: ClientRegistration): object {
  // Unleash refuses registrations without a start and an interval.
  return { appName: application, instanceId: instance, started: new Date().toISOString(), interval: 60_000, ...about };
}

function countsOf({ yes, no, variants }: Row): object {
  return { yes, no, variants: Object.fromEntries(variants) };
}
