import {
  type Constraint,
  type Flags,
  type FlagsStorage,
  isFlagsError,
  LIMITS,
  memoryStorage,
  openFlags,
} from '@flags/core';
import type { DocumentPut } from '@flags/core/storage';
import type { Role } from './row.js';

const MEBIBYTE = 1024 * 1024;
const DEFAULT = { project: 'default' };
export const SECRETS = {
  admin: `admin-${'a'.repeat(40)}`,
  client: `client-${'c'.repeat(40)}`,
  frontend: `frontend-${'f'.repeat(40)}`,
  stranger: `stranger-${'s'.repeat(40)}`,
} as const;
/** The admin token of an owner without permissions. */
export const STRANGER = 'stranger of the table';

/** The number of simultaneous requests. */
export const AT_ONCE = 8;
/** Each simultaneous request has another actor. */
export const adminSecret = (number: number) => `admin-${number}-${'a'.repeat(40)}`;
/** The number of viewers, and of editors. Each has a token, which is named after the role. */
const WITH_ROLE = 64;
export const roleSecret = (role: Role, number: number) => `${role}-${number % WITH_ROLE}-${'a'.repeat(40)}`;

/** The size of the store. */
export interface StoreSize {
  /** Small ones, which evenly share the size that the large ones leave. */
  readonly flags: number;
  /** Flags of 1 MiB each: `largest`, and `large-1` and so on. */
  readonly large: number;
  /** Of all definitions together, in bytes. */
  readonly bytes: number;
  /** Strategies that share one segment of nearly 1 MiB. */
  readonly sharing: number;
  /** Events that carry nearly 1.3 MB each. */
  readonly largeEvents: number;
  /** Events of one flag, small ones. */
  readonly manyEvents: number;
  /** Open change requests of 10 kB, and as many that have ended. At most as many as may wait, but for those of the rows. */
  readonly requests: number;
  /** Strategies that roll out. At most as many as may, but for those that the rows start. */
  readonly rollouts: number;
  readonly applications: number;
  /** Reported by each application. */
  readonly reported: number;
  /** Applications that report one flag only: the flag that paths name. */
  readonly invented: number;
}

export const flagName = (number: number) => `flag-${String(number).padStart(5, '0')}`;
export const strategyId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const texts = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `${String(index).padStart(6, '0')}${'u'.repeat(length - 6)}`);

/** Puts the flags into a new storage. The bytes leave room for the segment that many flags share. */
export async function fillStorage(storage: FlagsStorage, size: StoreSize): Promise<void> {
  const left = size.bytes - (size.large + 1) * MEBIBYTE;
  const template = await templateOf(Math.floor(left / size.flags));
  for (let first = 0; first < size.flags; first += 500) {
    const count = Math.min(500, size.flags - first);
    await storage.commit({
      writes: Array.from({ length: count }, (_, at) => copyOf(template, first + at)),
      events: [],
    });
  }
  for (let number = 0; number < size.large; number++) {
    await storage.commit({ writes: [largeFlag(template, number)], events: [] });
  }
}

interface Template {
  readonly body: string;
  readonly summary: string;
}

/** Gives the flag `busy` a long log, like a switch that changes very often. */
async function makeManyEvents(storage: FlagsStorage, flags: Flags, count: number): Promise<void> {
  await flags.createFlag(DEFAULT, { name: 'busy' });
  const subject = { kind: 'flag', id: 'busy' };
  const { revision = 0 } = (await storage.get(subject)) ?? {};
  const event = { at: new Date().toISOString(), actor: 'ada', subject, project: 'default' };
  for (let first = 0; first < count; first += 2) {
    const events = [true, false].map((enabled) => {
      const type = enabled ? 'environment-enabled' : 'environment-disabled';
      return {
        ...event,
        changeSet: `${first}`,
        type,
        environment: 'production',
        data: { enabled },
        before: { enabled: !enabled },
      };
    });
    const expected = revision + first / 2;
    await storage.commit({ writes: [{ key: subject, expected, touch: true }], events });
  }
}

/** A flag of this size in bytes, on in production. */
async function templateOf(bytes: number): Promise<Template> {
  const storage = memoryStorage();
  const flags = await openFlags({ storage, newId: () => strategyId(0), pollInterval: 0, usage: { interval: 0 } });
  const name = { ...DEFAULT, flag: flagName(0) };
  await flags.createFlag(DEFAULT, { name: name.flag });
  await flags.setVariants(name, [{ name: 'blue' }, { name: 'green' }]);
  await addStrategy(flags, name.flag, texts(20, 20));
  const [listed] = await storage.list({ kind: 'flag', part: 'summary' });
  const [found] = await storage.list({ kind: 'flag', part: 'body' });
  await flags.close();
  const body = { ...(found?.content as object), description: '' };
  const description = 'd'.repeat(Math.max(0, bytes - JSON.stringify(body).length));
  return { body: JSON.stringify({ ...body, description }), summary: JSON.stringify(listed?.content) };
}

async function addStrategy(flags: Flags, flag: string, values: readonly string[], segments: readonly number[] = []) {
  const place = { ...DEFAULT, flag, environment: 'production' };
  await flags.addStrategy(place, {
    name: 'flexibleRollout',
    parameters: { rollout: '50', groupId: flag, stickiness: 'default' },
    constraints: [{ contextName: 'userId', operator: 'NOT_IN', values }],
    segments,
  });
  await flags.enable(place);
}

function copyOf({ body, summary }: Template, number: number): DocumentPut {
  const text = body.replaceAll(flagName(0), flagName(number)).replaceAll(strategyId(0), strategyId(number));
  const key = { kind: 'flag', id: flagName(number) };
  return { key, expected: 0, parent: 'default', body: JSON.parse(text), summary: JSON.parse(summary) };
}

/** 1 MiB of strategies, values and variants, less what a change may add. */
function largeFlag({ body, summary }: Template, number: number): DocumentPut {
  const name = number === 0 ? 'largest' : `large-${number}`;
  const flag = JSON.parse(body.replaceAll(flagName(0), name).replaceAll(strategyId(0), strategyId(999_999)));
  const [environment] = flag.environments;
  const [strategy] = environment.strategies;
  const constraint = strategy.constraints[0];
  environment.strategies = texts(20, 36).map((id) => {
    const constraints = [{ ...constraint, values: texts(2000, 20) }];
    return { ...strategy, id, constraints, parameters: { ...strategy.parameters, rollout: '0' } };
  });
  flag.variants = texts(100, 12).map((variant) => ({ ...flag.variants[0], name: variant, weight: 10 }));
  flag.description = 'd'.repeat(10_000);
  const [first] = environment.strategies;
  first.parameters.filling = 'd'.repeat(Math.max(0, MEBIBYTE - 4096 - JSON.stringify(flag).length));
  const key = { kind: 'flag', id: name };
  return { key, expected: 0, parent: 'default', body: flag, summary: JSON.parse(summary) };
}

/** Creates everything else that the requests name, by the public interface. */
export async function furnish(storage: FlagsStorage, flags: Flags, size: StoreSize): Promise<void> {
  for (const kind of ['admin', 'client', 'frontend'] as const) {
    const place = kind === 'admin' ? {} : { environment: 'production' };
    await flags.tokens.create({ name: `${kind} of the table`, kind, secret: SECRETS[kind], ...place });
  }
  await flags.tokens.create({ name: STRANGER, kind: 'admin', secret: SECRETS.stranger });
  for (let number = 0; number < AT_ONCE; number++) {
    await flags.tokens.create({ name: `admin ${number}`, kind: 'admin', secret: adminSecret(number) });
  }
  for (const role of ['viewer', 'editor'] as const) {
    for (let number = 0; number < WITH_ROLE; number++) {
      await flags.tokens.create({ name: `${role} ${number}`, kind: 'admin', secret: roleSecret(role, number) });
    }
  }
  await flags.createProject({ id: 'other', name: 'Other' });
  await flags.createProject({ id: 'empty', name: 'Empty' });
  await flags.addMember(DEFAULT, { userId: 1, roleId: 4 });
  await flags.addMember(DEFAULT, { userId: 2, roleId: 5 });
  const constraints = [{ contextName: 'userId', operator: 'NOT_IN', values: texts(49_000, 17) } as const];
  await flags.segments.create({ name: 'shared', constraints });
  for (const name of ['changed', 'deleted']) await flags.segments.create({ name, constraints: [] });
  for (let number = 0; number < size.sharing; number++) {
    const place = { ...DEFAULT, flag: flagName(100 + number), environment: 'production' };
    await flags.addStrategy(place, { name: 'default', segments: [1] });
  }
  for (const flag of ['revived', 'deleted', 'archived-parent']) {
    await flags.createFlag(DEFAULT, { name: flag });
    await flags.archiveFlag({ ...DEFAULT, flag });
  }
  for (let number = 60; number < 64; number++) await addPatterns(flags, flagName(number));
  await flags.addDependency({ ...DEFAULT, flag: flagName(20) }, { flag: flagName(21) });
  await flags.addDependency({ ...DEFAULT, flag: flagName(22) }, { flag: flagName(21) });
  await makeLargeEvents(flags, size.largeEvents);
  await makeManyEvents(storage, flags, size.manyEvents);
  for (const consumer of ['reset', 'deleted']) {
    const stop = await flags.consume(consumer, () => undefined, { from: 'beginning' });
    await stop();
  }
  await makeRequests(storage, flags, size);
  await makeRollouts(flags, size);
  await reportUsage(flags, size);
  await inventApplications(flags, size.invented);
}

/** A strategy with 20 patterns of the maximum cost per character, which are all tested. */
async function addPatterns(flags: Flags, flag: string): Promise<void> {
  for (let repeated = 50; repeated > 1; repeated = Math.floor(repeated * 0.7)) {
    const value = `(?:a?){${repeated}}b`;
    const constraint: Constraint = { contextName: 'userId', operator: 'REGEX', value, inverted: true };
    const constraints = Array.from({ length: 20 }, () => constraint);
    try {
      await flags.addStrategy({ ...DEFAULT, flag, environment: 'production' }, { name: 'default', constraints });
      return;
    } catch (error) {
      if (!isFlagsError(error)) throw error;
    }
  }
}

async function makeLargeEvents(flags: Flags, count: number): Promise<void> {
  const place = { ...DEFAULT, flag: 'eventful', environment: 'production' };
  await flags.createFlag(DEFAULT, { name: place.flag });
  const { id } = await flags.addStrategy(place, { name: 'default' });
  const values = texts(35_000, 16);
  for (let number = 0; number < count; number++) {
    values[0] = `change-${number}`;
    const constraints = [{ contextName: 'userId', operator: 'IN', values } as const];
    await flags.updateStrategy({ ...place, strategy: id }, { name: 'default', constraints });
  }
}

/** Approvals need people: requests without a token name one. */
export const USER_HEADER = 'x-user';

/** One to read, and one for each decision. */
export const LARGE_REQUESTS = Array.from({ length: 5 }, (_, index) => strategyId(300_000 + index));

/** Change requests of nearly 1 MiB for the routes of one, and of 10 kB: half of the open ones have a time. */
async function makeRequests(storage: FlagsStorage, flags: Flags, { requests }: StoreSize): Promise<void> {
  const ref = { ...DEFAULT, flag: flagName(33) };
  const describing = { op: 'updateFlag', ref, input: { description: 'd'.repeat(10_000) } } as const;
  const changes = Array(90).fill(describing);
  for (const id of LARGE_REQUESTS) await flags.changeRequests.create(changes, { id, reason: 'Texts' });
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const { id, notAfter, expiresAt } = await flags.changeRequests.create([describing], { at, reason: 'Text' });
  const key = { kind: 'change-request', id };
  const template = await storage.get(key);
  const open = Math.min(requests, LIMITS.waitingRequests - 100);
  for (let first = 0; first < 2 * open; first += 500) {
    const writes = Array.from({ length: Math.min(500, 2 * open - first) }, (_, index) => {
      const nth = first + index;
      const isOpen = nth < open;
      const times = nth % 2 === 0 ? { at, notAfter, expiresAt } : { at: null, notAfter: null, expiresAt: at };
      const ends = isOpen ? {} : { state: 'withdrawn', endedAt: new Date().toISOString() };
      const own = { id: strategyId(100_000 + nth), author: { name: `author-${nth}` }, ...times, ...ends };
      const body = { ...(template?.body as object), ...own };
      const { v: _v, changes: _changes, hash: _hash, ...summary } = { v: 1, changes: [], hash: '', ...body };
      return { key: { ...key, id: own.id }, expected: 0, parent: isOpen ? 'open' : 'ended', body, summary };
    });
    await storage.commit({ writes, events: [] });
  }
}

/** Rollouts of 20 steps, in flags with 50 strategies each. */
async function makeRollouts(flags: Flags, { rollouts }: StoreSize): Promise<void> {
  const steps = Array.from({ length: 20 }, (_, index) => ({ percentage: index, hold: 86_400_000 }));
  const active = Math.min(rollouts, LIMITS.activeRollouts - 100);
  const gradual = { name: 'flexibleRollout', parameters: { rollout: 1, stickiness: 'default', groupId: 'g' } } as const;
  for (let first = 0; first < active; first += 50) {
    const place = { ...DEFAULT, flag: `rolling-${first}`, environment: 'production' };
    await flags.createFlag(DEFAULT, { name: place.flag });
    const count = Math.min(50, active - first);
    await flags.configureEnvironment(place, {
      enabled: true,
      strategies: Array.from({ length: count }, () => gradual),
    });
    const { environments } = await flags.getFlag(place);
    const strategies = environments.find(({ name }) => name === place.environment)?.strategies ?? [];
    await flags.apply(
      strategies.map(({ id }) => ({ op: 'startRollout', ref: { ...place, strategy: id }, input: { steps } })),
    );
  }
}

async function reportUsage(flags: Flags, { applications, reported, flags: known }: StoreSize): Promise<void> {
  const now = new Date().toISOString();
  const used = Array.from({ length: Math.min(reported, known) }, (_, number) => [flagName(number), { yes: 1, no: 1 }]);
  const counts = Object.fromEntries(used);
  for (let number = 0; number < applications; number++) {
    const application = `service-${number}`;
    await flags.registerApplication({ application, instance: 'i', strategies: ['default'] });
    await flags.reportMetrics({ application, instance: 'i', start: now, stop: now, counts });
  }
}

async function inventApplications(flags: Flags, count: number): Promise<void> {
  const now = new Date().toISOString();
  const counted = { start: now, stop: now, counts: { [flagName(10)]: { yes: 1, no: 1 } } };
  for (let first = 0; first < count; first += 1000) {
    const numbers = Array.from({ length: Math.min(1000, count - first) }, (_, number) => first + number);
    const reports = numbers.map((number) => ({ application: `invented-${number}`, ...counted }));
    await flags.reportMetricsInBulk({ reports });
  }
}
