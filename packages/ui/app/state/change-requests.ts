import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, call } from '../api/call.js';
import { hasToken } from '../api/credentials.js';
import { type QueryState, useQuery } from '../api/resource.js';
import type { ChangeRequest, ListedChangeRequest, Plan } from '../api/types.js';
import { isOpen, plannedOf, type RequestState, requestTitle } from '../model/change-request.js';
import { currentProject } from '../router.js';
import { useRollouts } from './rollouts.js';
import { may, offers, session } from './session.js';

/** Selects requests. */
interface RequestFilter {
  readonly project?: string | undefined;
}

/** No filter: all projects. */
export const ALL: RequestFilter = {};

/** The largest page of the API. */
const PAGE = 1_000;

const OPEN = ['open', 'approved'] as const satisfies readonly RequestState[];

/** Reads the requests that may still be applied: by their times, then the oldest. With `undefined` it waits. */
export function useOpenRequests(filter: RequestFilter | undefined): QueryState<readonly ListedChangeRequest[]> {
  return useQuery<readonly ListedChangeRequest[]>(
    filter &&
      mayList(filter) && {
        action: 'listChangeRequests',
        parameters: { ...filter, isOpen: true },
        async read({ signal }) {
          // One after the other: a request that is approved in between is in both, and counts as approved.
          const found = new Map<string, ListedChangeRequest>();
          for (const state of OPEN) {
            for (const one of await readRequests({ ...filter, state }, signal)) found.set(one.id, one);
          }
          return { data: [...found.values()].toSorted((one, other) => timeOf(one).localeCompare(timeOf(other))) };
        },
      },
  );
}

/** Reads the open requests about a flag, from the list that the navigation reads. */
export function useOpenRequestsOf(flag: string): readonly ListedChangeRequest[] {
  const { data = [] } = useOpenRequests(ALL);
  return data.filter(({ flags }) => flags.some((one) => one.flag === flag));
}

/** Reads the requests that have ended, the latest first. */
export function useEndedRequests(filter: RequestFilter): QueryState<readonly ListedChangeRequest[]> {
  return useQuery<readonly ListedChangeRequest[]>(
    mayList(filter) && {
      action: 'listChangeRequests',
      parameters: { ...filter, isOpen: false },
      async read({ signal }) {
        const ended = (await readRequests(filter, signal)).filter(({ state }) => !isOpen(state));
        return { data: ended.toSorted((one, other) => endOf(other).localeCompare(endOf(one))) };
      },
    },
  );
}

function mayList({ project }: RequestFilter): undefined | true {
  return offers('listChangeRequests', project ?? currentProject()) || undefined;
}

/** Requests without a time follow those that have one. */
function timeOf({ at, createdAt }: ListedChangeRequest): string {
  return at ?? `9${createdAt}`;
}

function endOf({ endedAt, createdAt }: ListedChangeRequest): string {
  return endedAt ?? createdAt;
}

async function readRequests(
  filter: RequestFilter & { readonly state?: RequestState },
  signal: AbortSignal,
): Promise<readonly ListedChangeRequest[]> {
  const found: ListedChangeRequest[] = [];
  for (let after: string | undefined; ; ) {
    const { data } = await call('listChangeRequests', { query: { ...filter, limit: PAGE, after }, signal });
    found.push(...data.changeRequests);
    after = data.next;
    if (after === undefined) return found;
  }
}

/** A request with what it would do now. */
export interface PlannedRequest {
  readonly request: ChangeRequest;
  /** Undefined if it has ended, if the caller may not plan, or if its changes would be refused. */
  readonly plan: Plan | undefined;
  /** Why there is no plan. */
  readonly refusal: ApiError | undefined;
}

/**
 * Reads a request, then plans it. An approval names the effect that was read first: what has changed in between makes the
 * service ask again, instead of approving what nobody has seen.
 */
export function usePlannedRequest(id: string): QueryState<PlannedRequest> {
  return useQuery<PlannedRequest>({
    action: 'getChangeRequest',
    parameters: { id, isPlanned: true },
    async read({ signal }) {
      const { data: request } = await call('getChangeRequest', { params: { request: id }, signal });
      return { data: { request, ...(await planOf(request, signal)) } };
    },
  });
}

const NOTHING: Plan = { documents: [], effects: [], hiddenEffects: 0, approval: null };

async function planOf(
  { state, changes, approval }: ChangeRequest,
  signal: AbortSignal,
): Promise<Omit<PlannedRequest, 'request'>> {
  const known = { plan: undefined, refusal: undefined };
  if (!isOpen(state)) return known;
  const planned = plannedOf(changes);
  try {
    if (planned.undoes !== undefined) {
      return { ...known, plan: (await call('planUndo', { params: { id: planned.undoes }, signal })).data };
    }
    if (planned.changes.length === 0) return { ...known, plan: { ...NOTHING, approval } };
    return { ...known, plan: (await call('planChanges', { body: { changes: planned.changes }, signal })).data };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...known, refusal: error };
  }
}

/** Returns whether the caller has made a request, as far as names can tell. The service compares ids, too. */
export function isOwn({ author }: Pick<ListedChangeRequest, 'author'>): boolean {
  if (author.person !== null && isCaller(author.person)) return true;
  return isCaller(author.name) && (author.tokenId !== null) === hasToken();
}

/** Returns whether a name is that of the caller. */
export function isCaller(name: string): boolean {
  return fold(name) === fold(session.value?.actor ?? '');
}

function fold(name: string): string {
  return name.normalize('NFKC').trim().toUpperCase().toLowerCase();
}

/** Returns whether the caller may perform an action on a request: in all its projects. */
export function mayOn(request: Pick<ListedChangeRequest, 'flags'>, action: string): boolean {
  return projectsOf(request).every((project) => may(action, project));
}

/** Returns a project of a request in which the caller lacks a permission, or else any of them. */
export function projectFor(request: Pick<ListedChangeRequest, 'flags'>, action: string): string {
  const projects = projectsOf(request);
  return projects.find((project) => !may(action, project)) ?? projects[0] ?? currentProject();
}

function projectsOf({ flags }: Pick<ListedChangeRequest, 'flags'>): readonly string[] {
  return flags.length === 0 ? [currentProject()] : [...new Set(flags.map(({ project }) => project))];
}

/** Returns whether a request waits for the caller: for an approval, or to be applied. */
export function waitsForCaller(request: ListedChangeRequest): boolean {
  const { state, at, required, approvals } = request;
  if (state === 'open') {
    const hasApproved = approvals.some(({ actor, current }) => current && isCaller(actor));
    return !isOwn(request) && !hasApproved && mayOn(request, 'decideChangeRequest');
  }
  const isForCaller = isOwn(request) || required === 0;
  return state === 'approved' && at === null && isForCaller && mayOn(request, 'applyChangeRequest');
}

/** What a history shows of a request: its title, its author and its approvals. */
export type KnownRequest = Pick<ChangeRequest, 'author' | 'approvals'> & { readonly title: string };

/** What is known of requests by id. Null: the caller may not read it, or it was deleted. */
const known = signal<ReadonlyMap<string, KnownRequest | null>>(new Map());
let reading = Promise.resolve();

/**
 * Returns the title and the people of a request; undefined until they are read. They are read once, one request after the
 * other, because the changes of a request never change.
 *
 * @param version another version is read again: the approvals of a request that has ended are final
 */
export function useKnownRequest(id: string | undefined, version = ''): KnownRequest | undefined {
  const key = `${id} ${version}`;
  useEffect(() => {
    if (id === undefined || known.peek().has(key)) return;
    remember(key, null);
    reading = reading.then(async () => {
      const found = await call('getChangeRequest', { params: { request: id } }).catch(() => undefined);
      if (found === undefined) return;
      const { changes, author, approvals } = found.data;
      remember(key, { title: requestTitle(changes), author, approvals });
    });
  }, [key]);
  return known.value.get(key) ?? undefined;
}

function remember(key: string, request: KnownRequest | null): void {
  known.value = new Map(known.peek()).set(key, request);
}

/** Returns the number of requests and rollouts that wait for the caller, in all projects. */
export function useWaitingCount(): number {
  const { data: requests = [] } = useOpenRequests(ALL);
  const { data: rollouts = [] } = useRollouts(ALL);
  return requests.filter(waitsForCaller).length + rollouts.filter(isForCaller).length;
}

/** Whether a rollout waits for the caller, who has started it. */
export function isForCaller({ state, author }: { readonly state: string; readonly author: { readonly name: string } }) {
  return state === 'waiting' && isCaller(author.name);
}
