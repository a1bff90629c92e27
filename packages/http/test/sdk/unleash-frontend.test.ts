import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Flags } from '@flags/core';
import request from 'supertest';
import { createHostApp, type HostApp } from '../host-app.js';

/** What a page of the interface has sent, in the order of the run. */
interface RecordedRequest {
  readonly page: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly status: number;
}

/**
 * A run of unleash-frontend 4.14.8 in Chromium on this router, whose host served `/api/admin/user` and
 * `/api/admin/ui-config`: the six actions, then its pages. `reads` has, per method and path, the members of the replies
 * that the interface has read, as `path: type`. A proxy around each parsed reply has recorded them.
 */
interface Recording {
  readonly requests: readonly RecordedRequest[];
  readonly reads: Readonly<Record<string, readonly string[]>>;
}

const { requests, reads }: Recording = JSON.parse(readFileSync(join(__dirname, 'unleash-frontend.json'), 'utf8'));

const PRODUCTION = { project: 'default', flag: 'checkout', environment: 'production' };

/** The state at the begin of the run. */
async function furnish(flags: Flags): Promise<void> {
  for (const name of ['checkout', 'banner', 'old']) {
    await flags.createFlag(PRODUCTION, { name, description: `The ${name}`, labels: ['team-shop'] });
  }
  await flags.archiveFlag({ ...PRODUCTION, flag: 'old' });
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7', '8'] }] as const;
  await flags.segments.create({ name: 'beta', description: 'Early birds', constraints });
  const parameters = { rollout: 25, stickiness: 'default', groupId: 'checkout' };
  await flags.addStrategy(PRODUCTION, { name: 'flexibleRollout', parameters, segments: [1] });
  await flags.enable(PRODUCTION);
  await flags.setVariants(PRODUCTION, [{ name: 'blue' }, { name: 'green' }]);
  await flags.tokens.create({ name: 'web', kind: 'frontend', environment: 'production' });
  const shop = { application: 'shop', instance: 'shop-1', strategies: ['default'] };
  await flags.registerApplication(shop, { clientIp: '192.0.2.1' });
}

/** Adds the members of a value, as `path: type`. */
function addMembers(value: unknown, path: string, members: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const own = Array.isArray(value) ? `${path}[]` : path === '' ? name : `${path}.${name}`;
    const type = member === null ? 'null' : Array.isArray(member) ? 'array' : typeof member;
    members.add(`${own}: ${type}`);
    addMembers(member, own, members);
  }
}

describe("Unleash's own admin interface, in a recorded run", () => {
  const seen = new Map<string, Set<string>>();
  let host: HostApp;
  let replies: readonly (readonly [string, number])[];

  async function send({ method, path, body }: RecordedRequest): Promise<number> {
    const asked =
      method === 'GET' ? request(host.app).get(path) : request(host.app)[method === 'POST' ? 'post' : 'delete'](path);
    const reply = await (body ? asked.send(body) : asked);
    const key = `${method} ${path.split('?')[0]}`;
    const members = seen.get(key) ?? new Set();
    seen.set(key, members);
    addMembers(reply.body, '', members);
    return reply.status;
  }

  beforeAll(async () => {
    let ids = 0;
    const newId = () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`;
    host = await createHostApp({ flags: { newId } });
    await furnish(host.flags);
    const statuses: [string, number][] = [];
    for (const one of requests) statuses.push([`${one.page}: ${one.method} ${one.path}`, await send(one)]);
    replies = statuses;
    // The run has read these again after later changes.
    for (const one of requests) if (one.method === 'GET') await send(one);
  });

  afterAll(() => host.flags.close());

  it('gets the recorded status for every request', () => {
    const recorded = requests.map(({ page, method, path, status }) => [`${page}: ${method} ${path}`, status]);
    expect(replies).toEqual(recorded);
    expect(host.faults).toEqual([]);
  });

  it.each(Object.entries(reads))('finds the members that it reads in the reply to %s', (key, members) => {
    expect([...(seen.get(key) ?? [])]).toEqual(expect.arrayContaining([...members]));
  });

  it('has created, configured, switched and archived flags, and created a segment and a token', async () => {
    const { environments } = await host.flags.getFlag({ project: 'default', flag: 'search' });
    expect(environments.find(({ name }) => name === 'development')).toMatchObject({
      enabled: true,
      strategies: [{ name: 'flexibleRollout', segments: [1] }],
    });
    expect(await host.flags.getFlag({ project: 'default', flag: 'banner' })).toMatchObject({ archived: true });
    expect((await host.flags.segments.list()).items.map(({ name }) => name)).toEqual(['beta', 'german']);
    expect((await host.flags.tokens.list()).items.map(({ name }) => name)).toEqual(['web', 'backend']);
  });
});
