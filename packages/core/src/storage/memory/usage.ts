import { compareCodePoints, groupBy } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import { nextTurn } from '../../base/paced.js';
import type {
  ApplicationQuery,
  ApplicationRegistration,
  DroppedUsage,
  Resolution,
  StoredApplication,
  StoredInstance,
  SumQuery,
  UsageBatch,
  UsageKey,
  UsageKeys,
  UsageRetention,
  UsageStorage,
  UsageSum,
} from '../usage/port.js';
import {
  addDropped,
  applicationsOf,
  boundedSum,
  DAY,
  decideAdmission,
  firstKept,
  type InstanceRow,
  largestFirst,
  NOTHING_DROPPED,
  rowsOf,
} from '../usage/rules.js';
import { type HeldCount, type MemoryCounts, memoryCounts } from './counts.js';

/** Rows of counts: databases have more room for them. `LIMITS.unknownNames` fit into the resolutions that count names. */
const MOST_ROWS: Readonly<Record<Resolution, number>> = {
  minute: 0.5 * LIMITS.usageRowsInMemory,
  hour: 0.15 * LIMITS.usageRowsInMemory,
  day: 0.1 * LIMITS.usageRowsInMemory,
  ever: 0.25 * LIMITS.usageRowsInMemory,
};
const RESOLUTIONS_HELD = Object.keys(MOST_ROWS) as Resolution[];

/** Rows may exceed their bounds by this factor until `prune` deletes them. */
const TOLERANCE = 1.25;

/** Instances of all applications. */
const MOST_INSTANCES = 20_000;

/** The texts of all registrations, in bytes. */
const MOST_TEXT = 4_194_304;

/**
 * Creates usage in the memory of this process. Other processes cannot see it, and it ends with the process.
 *
 * Its bounds are lower than those of a database: see `LIMITS.usageRowsInMemory`. Safe to call concurrently. `close` has no
 * effect.
 */
export function memoryUsage(): UsageStorage {
  const counts: Readonly<Record<Resolution, MemoryCounts>> = {
    minute: memoryCounts(),
    hour: memoryCounts(),
    day: memoryCounts(),
    ever: memoryCounts(),
  };
  const lastSeen = new Map<string, number>();
  const batches = new Map<string, number>();
  const applications = memoryApplications();

  function record(batch: UsageBatch): DroppedUsage {
    if (batches.has(batch.id)) return NOTHING_DROPPED;
    batches.set(batch.id, batch.at);
    const { admitted, refused } = applications.admit(batch);
    let reports = refused;
    for (const registration of batch.registrations ?? []) {
      const { application } = registration;
      if (admitted.has(application) && !applications.register(registration)) reports += 1;
    }
    const rows = rowsOf(batch, admitted);
    for (const row of rows.counts) counts[row.resolution].add(row);
    for (const [flag, stop] of rows.lastSeen) lastSeen.set(flag, Math.max(lastSeen.get(flag) ?? stop, stop));
    for (const instance of rows.instances) applications.see(instance, batch.at);
    for (const [application, names] of rows.droppedNames) applications.dropNames(application, names);
    const leftOut = [...rows.droppedNames.values()].reduce((sum, names) => sum + names, 0);
    const named = new Set((batch.reports ?? []).flatMap((report) => (report.unknown ? [report.application] : [])));
    const names = leftOut + trimNames(named);
    // One resolution at a time, so that no batch takes long. The next batch trims the next one.
    const crowded = RESOLUTIONS_HELD.find((one) => counts[one].size > TOLERANCE * MOST_ROWS[one]);
    const dropped = { ...NOTHING_DROPPED, names, reports };
    return crowded ? addDropped(dropped, trimRows(crowded)) : dropped;
  }

  /** Deletes unknown names of applications that have too many. */
  function trimNames(named: ReadonlySet<string>): number {
    if (named.size === 0) return 0;
    const names = unknownNames().filter(({ application }) => named.has(application));
    return [...groupBy(names, ({ application }) => application).values()]
      .map((ofOne) => removeNames(excessOf(ofOne, LIMITS.unknownNamesPerApplication)))
      .reduce((sum, removed) => sum + removed, 0);
  }

  function unknownNames(): readonly HeldCount[] {
    return [...counts.ever.rows()].filter(({ isUnknown }) => isUnknown);
  }

  function removeNames(names: readonly HeldCount[]): number {
    if (names.length === 0) return 0;
    const removed = new Set(names.map(({ application, flag }) => JSON.stringify([application, flag])));
    removeWhere(['minute', 'ever'], ({ application, flag }) => {
      return application !== '' && removed.has(JSON.stringify([application, flag]));
    });
    for (const { application } of names) applications.dropNames(application, 1);
    return names.length;
  }

  function removeApplication(name: string): boolean {
    removeWhere(['minute', 'ever'], ({ application }) => application === name);
    return applications.remove(name);
  }

  function removeWhere(resolutions: readonly Resolution[], isRemoved: (row: HeldCount) => boolean): void {
    for (const resolution of resolutions) counts[resolution].removeWhere(isRemoved);
  }

  /** Deletes rows beyond the bounds. Unknown names have a bound of their own. */
  function trimRows(resolution: Resolution): DroppedUsage {
    const isName = ({ isUnknown }: HeldCount) => resolution === 'ever' && isUnknown;
    const rows = [...counts[resolution].rows()];
    const excess = new Set(
      excessOf(
        rows.filter((row) => !isName(row)),
        MOST_ROWS[resolution],
      ),
    );
    if (excess.size > 0) removeWhere([resolution], (row) => excess.has(row));
    const names = removeNames(excessOf(rows.filter(isName), LIMITS.unknownNames));
    return { names, reports: 0, usage: excess.size };
  }

  function dropUnseen({ since, isFlag }: NonNullable<UsageRetention['unseen']>): void {
    for (const name of applications.dropUnseen(since)) removeApplication(name);
    removeWhere(['ever'], ({ isUnknown, at }) => isUnknown && at < since);
    const gone = new Set([...lastSeen].flatMap(([flag, at]) => (at < since && !isFlag(flag) ? [flag] : [])));
    for (const flag of gone) lastSeen.delete(flag);
    if (gone.size > 0) removeWhere(['minute', 'ever'], ({ flag }) => gone.has(flag));
  }

  return {
    record,
    sum: (query) => sumOf(counts[query.resolution].rows(), query),
    lastSeen: (flags) => new Map(flags.flatMap((flag) => lastSeenPair(lastSeen, flag))),
    applications: applications.list,
    forget(subject) {
      if ('application' in subject) return removeApplication(subject.application);
      const flags = new Set(subject.flags);
      removeWhere(RESOLUTIONS_HELD, ({ flag }) => flags.has(flag));
      for (const flag of flags) lastSeen.delete(flag);
      return true;
    },
    async prune({ now, unseen }) {
      let dropped = NOTHING_DROPPED;
      for (const [id, at] of batches) if (at < now - DAY) batches.delete(id);
      for (const resolution of RESOLUTIONS_HELD) {
        // Lets other work of the process run in between.
        await nextTurn();
        const first = firstKept(resolution, now);
        removeWhere([resolution], ({ start }) => start < first);
        dropped = addDropped(dropped, trimRows(resolution));
      }
      if (unseen) dropUnseen(unseen);
      applications.trimInstances();
      return dropped;
    },
    close() {},
  };
}

function lastSeenPair(lastSeen: ReadonlyMap<string, number>, flag: string): [string, number][] {
  const at = lastSeen.get(flag);
  return at === undefined ? [] : [[flag, at]];
}

interface Aged {
  readonly application: string;
  /** Absent: false. */
  readonly isPublic?: boolean;
  /** Absent: 0. */
  readonly start?: number;
  readonly at: number;
}

/** Returns the rows to delete: the oldest ones of public reporters, then the oldest ones of the largest application. */
function excessOf<Row extends Aged>(rows: readonly Row[], bound: number): readonly Row[] {
  const excess = rows.length - bound;
  if (excess <= 0) return [];
  const sorted = [...rows].sort((one, other) => (one.start ?? 0) - (other.start ?? 0) || one.at - other.at);
  const gone = sorted.filter(({ isPublic }) => isPublic).slice(0, excess);
  const removed = new Set(gone);
  const left = groupBy(
    sorted.filter((row) => !removed.has(row)),
    ({ application }) => application,
  );
  const sizes = new Map([...left].map(([application, ofOne]) => [application, ofOne.length]));
  for (const step of largestFirst(sizes, { excess: excess - gone.length, slice: 500 })) {
    gone.push(...(left.get(step.application)?.splice(0, step.rows) ?? []));
  }
  return gone;
}

/** Sums rows by the members of `by`, each group once, in their order. */
function sumOf<Key extends UsageKey>(rows: Iterable<HeldCount>, query: SumQuery<Key>): UsageSum<Key>[] {
  const { by, limit = Number.POSITIVE_INFINITY } = query;
  const [first = 'flag'] = by;
  const isWanted = createFilter(query);
  const wanted: HeldCount[] = [];
  for (const row of rows) if (isWanted(row)) wanted.push(row);
  const parts = groupBy(wanted, (row) => row[first]);
  const sums: UsageSum[] = [];
  // Only the rows of as many first keys as the page needs are summed and sorted.
  for (const [, part] of [...parts].sort(([one], [other]) => compareKeys(one, other))) {
    if (sums.length >= limit) break;
    const groups = new Map<string, UsageSum>();
    for (const row of part) {
      const key = JSON.stringify(by.map((name) => row[name]));
      const { yes, no } = groups.get(key) ?? { yes: 0, no: 0 };
      const { flag, application, environment, variant, start } = row;
      const keys = { flag, application, environment, variant, start };
      groups.set(key, { ...keys, yes: boundedSum(yes, row.yes), no: boundedSum(no, row.no) });
    }
    const following = [...groups.values()].filter((sum) => !query.after || compareBy(by, sum, query.after) > 0);
    sums.push(...following.sort((one, other) => compareBy(by, one, other)));
  }
  const members: readonly (keyof UsageSum)[] = [...by, 'yes', 'no'];
  return sums
    .slice(0, limit)
    .map((sum) => Object.fromEntries(members.map((name) => [name, sum[name]])) as unknown as UsageSum<Key>);
}

/** Returns a function that selects the rows that a query may sum. */
function createFilter(query: SumQuery): (row: HeldCount) => boolean {
  const { by, after, from = 0, until = Number.POSITIVE_INFINITY, flag, application, environment } = query;
  const [byVariant, byApplication] = [by.includes('variant'), by.includes('application')];
  const first = by.slice(0, 1);
  return (row) =>
    row.start >= from &&
    row.start < until &&
    (flag === undefined || row.flag === flag) &&
    (application === undefined || row.application === application) &&
    (environment === undefined || row.environment === environment) &&
    (byVariant || row.variant === '') &&
    (!byApplication || row.application !== '') &&
    (after === undefined || compareBy(first, row, after) >= 0);
}

function compareBy(by: readonly UsageKey[], one: UsageKeys, other: Partial<UsageKeys>): number {
  for (const name of by) {
    const order = compareKeys(one[name], other[name] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function compareKeys(one: string | number, other: string | number): number {
  return typeof one === 'number' ? one - Number(other) : compareCodePoints(one, String(other));
}

interface HeldApplication {
  about: Omit<StoredApplication, 'instances'>;
  /** The token that named it first. */
  readonly token: string | undefined;
  readonly instances: Map<string, StoredInstance>;
}

function memoryApplications() {
  const held = new Map<string, HeldApplication>();
  let text = 0;

  function ownedBy(token: string | undefined): number {
    if (token === undefined) return 0;
    let owned = 0;
    for (const application of held.values()) if (application.token === token) owned += 1;
    return owned;
  }

  return {
    /** Creates the further applications of a batch. */
    admit(batch: UsageBatch) {
      const stored = new Set(applicationsOf(batch).filter((name) => held.has(name)));
      const token = batch.reporter?.token;
      const admission = decideAdmission(batch, { stored, total: held.size, owned: ownedBy(token) });
      for (const name of admission.created) {
        held.set(name, { about: newApplication(name, batch.at), token, instances: new Map() });
      }
      return admission;
    },
    /** The application must have been admitted. Returns false if there is no room for its texts. */
    register(registration: ApplicationRegistration): boolean {
      const application = held.get(registration.application);
      if (!application) return false;
      const about = registered(application.about, registration);
      const grown = text + textOf(about) - textOf(application.about);
      if (grown > MOST_TEXT) return false;
      text = grown;
      application.about = about;
      return true;
    },
    /** The application must have been admitted. */
    see({ application: name, id, clientIp, sdkVersion }: InstanceRow, at: number): void {
      const application = held.get(name);
      if (!application) return;
      const { about, instances } = application;
      const before = instances.get(id);
      instances.set(id, {
        id,
        clientIp: clientIp ?? before?.clientIp ?? '',
        sdkVersion: sdkVersion ?? before?.sdkVersion ?? '',
        createdAt: before?.createdAt ?? at,
        seenAt: Math.max(before?.seenAt ?? at, at),
      });
      application.about = { ...about, seenAt: Math.max(about.seenAt, at) };
      if (instances.size <= LIMITS.instancesPerApplication) return;
      const oldest = [...instances.values()].reduce((one, other) => (other.seenAt < one.seenAt ? other : one));
      instances.delete(oldest.id);
    },
    dropNames(name: string, dropped: number): void {
      const application = held.get(name);
      if (!application) return;
      application.about = { ...application.about, droppedNames: application.about.droppedNames + dropped };
    },
    remove(name: string): boolean {
      const application = held.get(name);
      if (application) text -= textOf(application.about);
      return held.delete(name);
    },
    list({ seenSince = 0, names, after, limit, instances = false }: ApplicationQuery): StoredApplication[] {
      const wanted = names ? names.flatMap((name) => held.get(name) ?? []) : [...held.values()];
      return wanted
        .filter(({ about: { name, seenAt } }) => {
          return seenAt >= seenSince && (after === undefined || compareCodePoints(name, after) > 0);
        })
        .sort((one, other) => compareCodePoints(one.about.name, other.about.name))
        .slice(0, limit)
        .map((application) => toStored(application, instances));
    },
    /** Deletes instances. Returns the names of applications without any. */
    dropUnseen(since: number): readonly string[] {
      for (const { instances } of held.values()) {
        for (const { id, seenAt } of instances.values()) if (seenAt < since) instances.delete(id);
      }
      return [...held].flatMap(([name, { instances }]) => (instances.size === 0 ? [name] : []));
    },
    /** Deletes instances beyond the bound. */
    trimInstances(): void {
      const instances = [...held].flatMap(([application, { instances: ofOne }]) =>
        [...ofOne.values()].map(({ id, seenAt: at }) => ({ application, id, at })),
      );
      for (const { application, id } of excessOf(instances, MOST_INSTANCES))
        held.get(application)?.instances.delete(id);
    },
  };
}

function newApplication(name: string, at: number): HeldApplication['about'] {
  const texts = { strategies: [], description: '', url: '', color: null, icon: '' };
  return { name, ...texts, createdAt: at, seenAt: at, droppedNames: 0 };
}

function registered(about: HeldApplication['about'], given: ApplicationRegistration): HeldApplication['about'] {
  const { strategies, description, url, color, icon } = given;
  return {
    ...about,
    strategies: [...strategies],
    description: description ?? about.description,
    url: url ?? about.url,
    color: color === undefined ? about.color : color,
    icon: icon ?? about.icon,
  };
}

function toStored({ about, instances }: HeldApplication, withInstances: boolean): StoredApplication {
  const stored = { ...about, strategies: [...about.strategies] };
  if (!withInstances) return stored;
  const sorted = [...instances.values()].sort((one, other) => compareCodePoints(one.id, other.id));
  return { ...stored, instances: sorted.map((instance) => ({ ...instance })) };
}

/** The memory of a string that is not shared, in bytes. */
const STRING_SIZE = 32;

/** Returns about how many bytes the texts of a registration take. */
function textOf({ strategies, description, url, icon, color }: HeldApplication['about']): number {
  const texts = [description, url, icon, color ?? ''].reduce((sum, one) => sum + one.length, 0);
  return strategies.reduce((sum, strategy) => sum + strategy.length + STRING_SIZE, texts);
}
