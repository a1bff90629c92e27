import { createFlags, type Flags, memoryStorage, memoryUsage, type UsageStorage } from '../../src/index.js';
import type { UsageBatch } from '../../src/storage/usage-port.js';
import { startUsageRecorder } from '../../src/usage/usage-recorder.js';
import { createUsageWriter } from '../../src/usage/usage-writer.js';

const [start, stop] = ['2030-01-15T11:59:00Z', '2030-01-15T12:00:00Z'];
const now = () => new Date('2030-01-15T12:00:00.500Z');
const PROJECT = { project: 'default' };

/** The counts and registrations of each call of `record`. */
interface Part {
  readonly counts: number;
  readonly registrations: number;
}

let stored: UsageStorage;
let usage: UsageStorage;
let parts: Part[];
let failAt: number;
let flags: Flags;

beforeEach(async () => {
  stored = memoryUsage();
  parts = [];
  failAt = Number.POSITIVE_INFINITY;
  usage = {
    ...stored,
    record(batch: UsageBatch) {
      const { reports = [], registrations = [] } = batch;
      if (parts.length >= failAt) throw new Error('the disk is full');
      const counts = reports.reduce((sum, report) => sum + report.counts.length, 0);
      parts.push({ counts, registrations: registrations.length });
      return stored.record(batch);
    },
  };
  flags = await createFlags({ storage: memoryStorage(), usage, now, usageInterval: 0 });
});
afterEach(() => flags.close());

async function createFlagsNamed(count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `flag-${1000 + index}`);
  for (let first = 0; first < count; first += 500) {
    const changes = names.slice(first, first + 500).map((name) => {
      return { op: 'createFlag' as const, ref: PROJECT, input: { name } };
    });
    await flags.apply(changes);
  }
  return names;
}

function toggles(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, { yes: 2, no: 1 }]));
}

it('stores a report of many flags in parts, and answers when all are stored', async () => {
  const names = await createFlagsNamed(1200);
  const counted = toggles([...names, 'invented']);
  await flags.reportMetrics({ appName: 'web', bucket: { start, stop, toggles: counted } });
  expect(parts.length).toBe(3);
  expect(Math.max(...parts.map(({ counts }) => counts))).toBeLessThanOrEqual(500);
  const { lastHour } = await flags.countEvaluations();
  expect(lastHour.size).toBe(1201);
  expect(new Set([...lastHour.values()].map(({ yes, no }) => `${yes} ${no}`))).toEqual(new Set(['2 1']));
  expect((await flags.listSeenFlags())[0]?.metricsCount).toBe(3 * 1201);
});

it('stores a small report and a small batch by one call', async () => {
  const names = await createFlagsNamed(400);
  const bucket = { start, stop, toggles: toggles(names) };
  await flags.reportMetrics({ appName: 'web', bucket });
  await flags.reportMetricsInBulk({
    registrations: [{ appName: 'web', strategies: ['default'], started: start, interval: 1000 }],
    reports: [{ appName: 'web', bucket }],
  });
  expect(parts).toEqual([
    { counts: 400, registrations: 0 },
    { counts: 400, registrations: 1 },
  ]);
});

it('stores a batch of many applications in parts, the registrations first', async () => {
  const applications = Array.from({ length: 1000 }, (_, index) => `app-${1000 + index}`);
  await flags.reportMetricsInBulk({
    registrations: applications.map((appName) => ({
      appName,
      strategies: ['default'],
      started: start,
      interval: 1000,
    })),
    reports: applications.map((appName) => ({ appName, bucket: { start, stop, toggles: {} } })),
  });
  expect(parts.map(({ registrations }) => registrations)).toEqual([...Array(10).fill(100), ...Array(10).fill(0)]);
  expect((await flags.listApplications()).length).toBe(1000);
});

it('keeps the counts of this process that follow a failed part, and counts none twice', async () => {
  const names = Array.from({ length: 1200 }, (_, index) => `flag-${1000 + index}`);
  const pending = names.map((flag) => ({ flag, environment: 'production', yes: 1, no: 0 }));
  const recorder = startUsageRecorder({
    writer: createUsageWriter({ usage, isFlag: () => true, now, applicationRetention: 1e12, onError: () => undefined }),
    now,
    ...{ application: 'web', instance: 'web-1', strategies: [], interval: 0 },
    drain: () => pending.splice(0),
    onError: () => undefined,
  });
  const countsOf = async () => stored.sum({ resolution: 'minute', by: ['flag'] });
  // The first two store the application and a part of the counts.
  failAt = 2;
  await recorder.flush();
  expect((await countsOf()).length).toBe(495);
  failAt = Number.POSITIVE_INFINITY;
  await recorder.close();
  expect(await countsOf()).toEqual(names.map((flag) => ({ flag, yes: 1, no: 0 })));
});

it('refuses a report that counts more variants of a flag than a flag may have', async () => {
  const variants = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, 1]));
  const report = (count: number) => {
    const counted = { checkout: { yes: 1, no: 0, variants: variants(count) } };
    return flags.reportMetrics({ appName: 'web', bucket: { start, stop, toggles: counted } });
  };
  await report(2000);
  const path = '/bucket/toggles/checkout/variants';
  await expect(report(2001)).rejects.toMatchObject({ code: 'invalid_input', details: [{ path }] });
  expect(parts.length).toBe(1);
});
