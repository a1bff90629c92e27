import type { Change, Flags } from '@flags/core';
import { type Action, roles, type UserRole } from '@flags/express';
import { disconnectBrowser, type Visit, type VisitOptions, visit } from '@flags/test-browser';
import { type Host, type HostOptions, seed, startHost } from './host.js';

/* The host of the tests of change requests: a shop whose people have roles, and approve the changes of each other. */

export const HOUR = 3_600_000;
export const checkout = { project: 'default', flag: 'checkout', environment: 'production' };
const darkMode = { ...checkout, flag: 'dark-mode' };
export const ENABLE: Change = { op: 'enable', ref: darkMode };
export const DISABLE: Change = { op: 'disable', ref: checkout };
export const TITLE = 'Enable dark-mode in production';

/** The users of the host. The browser context of a user sends the name in a header. */
const USERS: Readonly<Record<string, UserRole>> = { ada: 'editor', grace: 'editor', charles: 'viewer', root: 'admin' };

export let host: Host;
const visits: Visit[] = [];
/** The clock of the engine is ahead of that of the browser by this number of milliseconds. */
export const clock = { ahead: 0 };

interface StartOptions extends HostOptions {
  /** Default: one approval in production. */
  readonly required?: number;
  /** Denies actions beside those of the role. */
  readonly denies?: (action: Action) => boolean;
}

export async function start({ required = 1, denies = () => false, ...options }: StartOptions = {}): Promise<void> {
  clock.ahead = 0;
  host = await startHost({
    due: { run: 'elsewhere' },
    now: () => new Date(Date.now() + clock.ahead),
    router: {
      auth: (request) => {
        const name = String((request as { readonly headers: Record<string, unknown> }).headers['x-user']);
        return name in USERS ? { name } : null;
      },
      authorize: ({ name }: { readonly name: string }, action: Action) =>
        !denies(action) && roles[USERS[name] ?? 'viewer'](action),
    },
    ...options,
  });
  await seed(host);
  if (required > 0) await host.flags.approvalPolicy.set({ environments: { production: { required } } });
}

export async function open(user: string, path: string, options: VisitOptions = {}): Promise<Visit['page']> {
  const visited = await visit(`${host.page}${path}`, {
    ...options,
    extraHTTPHeaders: { 'x-user': user },
    allow: [[403, /event-stream|\/events/]],
  });
  visits.push(visited);
  return visited.page;
}

/** The visit of the last opened page. */
export function lastVisit(): Visit {
  return visits.at(-1) as Visit;
}

/** Closes the last opened page. */
export async function closeLast(): Promise<void> {
  await visits.pop()?.close();
}

afterEach(async () => {
  for (const one of visits.splice(0)) await one.close();
});
afterEach(() => host.close());
afterAll(disconnectBrowser);

export async function isOn(flag: string): Promise<boolean | undefined> {
  const { environments } = await host.flags.getFlag({ project: 'default', flag });
  return environments.find(({ name }) => name === 'production')?.enabled;
}

export async function requests(): Promise<Awaited<ReturnType<Flags['changeRequests']['list']>>['items']> {
  return (await host.flags.changeRequests.list()).items;
}

/** Requests to switch dark-mode on in production, and returns the id. */
export async function requestAs(name: string, reason = 'Launch'): Promise<string> {
  return (await host.flags.as(name).changeRequests.create([ENABLE], { reason })).id;
}

export async function approveAs(name: string, id: string): Promise<void> {
  const ref = { changeRequest: id };
  const { effect } = await host.flags.changeRequests.get(ref);
  await host.flags.as(name).changeRequests.approve(ref, { effect: `${effect}` });
}

export function inHours(count: number): string {
  return new Date(Date.now() + count * HOUR).toISOString();
}

/** Changes the percentage of dark-mode in production, where it is off. */
export async function setPercentage(rollout: number): Promise<void> {
  const { environments } = await host.flags.getFlag(darkMode);
  const [strategy] = environments.find(({ name }) => name === 'production')?.strategies ?? [];
  const parameters = { rollout, stickiness: 'default', groupId: 'dark-mode' };
  await host.flags.updateStrategy({ ...darkMode, strategy: `${strategy?.id}` }, { parameters });
}

export function switchOf(page: Visit['page'], flag: string) {
  return page.getByRole('switch', { name: `${flag} in production`, exact: true });
}

/** The card of production on the page of a flag. */
export function cardOf(page: Visit['page']) {
  return page.getByRole('region', { name: 'production', exact: true });
}
