import { defaultEnvironment as preferredEnvironment, type ReviewScope } from '@flags/core/admin';
import { computed, effect, signal } from '@preact/signals';
import { type ApiError, call } from '../api/call.js';
import { hasToken, isSignedOut } from '../api/credentials.js';
import type { Session } from '../api/types.js';
import { currentProject } from '../router.js';
import { settings } from '../settings.js';

/** What the API says about the caller; undefined until it has answered. */
export const session = signal<Session | undefined>(undefined);
export const sessionError = signal<ApiError | undefined>(undefined);

/** Whether the caller was let in: only then there are environments. */
export const isLetIn = computed(() => session.value?.environments !== undefined && !isSignedOut.value);

export const environments = computed<NonNullable<Session['environments']>>(() => session.value?.environments ?? []);

/** The environment on which the page acts if the address names none. */
export const defaultEnvironment = computed(() => session.value?.environment ?? preferredEnvironment(namesOf()));

/** The environments that are reviewed. */
export const reviewScope = computed<ReviewScope>(() => ({ environments: namesOf(), reviewIn: settings.reviewIn }));

const namesOf = () => environments.value.map(({ name }) => name);

/** Asks the API who the caller is. */
async function loadSession(): Promise<void> {
  try {
    const { data } = await call('getSession');
    session.value = data;
    sessionError.value = undefined;
    if (data.environments !== undefined) isSignedOut.value = false;
  } catch (error) {
    sessionError.value = Object.assign(error as ApiError, { retry: loadSession });
  }
}

const allowed = signal<ReadonlyMap<string, ReadonlySet<string>>>(new Map());
const requested = new Set<string>();

/**
 * Returns whether the caller may perform an action. Until the API has answered, and where it does not tell, yes. For
 * all projects (`''`) the last one answers: actions on a flag ask again with the project of the flag.
 */
export function may(action: string, place: string): boolean {
  const project = place || currentProject();
  if (!requested.has(project)) {
    requested.add(project);
    queueMicrotask(() => void loadPermissions(project));
  }
  return allowed.value.get(project)?.has(action) ?? true;
}

/** Returns whether the API has an action and the caller may perform it. Until it has answered, no. */
export function offers(action: string, project: string): boolean {
  return may(action, project) && allowed.value.has(project || currentProject());
}

async function loadPermissions(project: string): Promise<void> {
  try {
    const { data } = await call('getSession', { query: { project } });
    if (data.actions !== undefined) allowed.value = new Map(allowed.peek()).set(project, new Set(data.actions));
  } catch {
    requested.delete(project);
  }
}

/** Asks again what the caller may do, after a refusal. */
export function reloadPermissions(): void {
  for (const project of requested) void loadPermissions(project);
}

/** Another token may do other things. */
export function startSession(): void {
  effect(() => {
    hasToken();
    requested.clear();
    allowed.value = new Map();
    void loadSession();
  });
}
