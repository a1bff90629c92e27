import { defaultEnvironment as preferredEnvironment, type ReviewScope } from '@flags/core/admin';
import { computed, effect, untracked } from '@preact/signals';
import { hasToken, isSignedOut } from '../api/credentials.js';
import { invalidate, lookUp } from '../api/resource.js';
import type { Session } from '../api/types.js';
import { currentProject } from '../router.js';
import { settings } from '../settings.js';

/** What the API says about the caller; undefined until it has answered. */
export const session = computed<Session | undefined>(() => lookUp('getSession', {}).data);
export const sessionError = computed(() => lookUp('getSession', {}).error);

/** Whether the caller was let in: only then there are environments. */
export const isLetIn = computed(() => session.value?.environments !== undefined && !isSignedOut.value);

export const environments = computed<NonNullable<Session['environments']>>(() => session.value?.environments ?? []);

/** The environment on which the page acts if the address names none. */
export const defaultEnvironment = computed(() => session.value?.environment ?? preferredEnvironment(namesOf()));

/** The environments that are reviewed. */
export const reviewScope = computed<ReviewScope>(() => ({ environments: namesOf(), reviewIn: settings.reviewIn }));

const namesOf = () => environments.value.map(({ name }) => name);

/**
 * Returns whether the caller may perform an action. Until the API has answered, and where it does not tell, yes. For
 * all projects (`''`) the last one answers: actions on a flag ask again with the project of the flag.
 */
export function may(action: string, place: string): boolean {
  return actionsIn(place)?.includes(action) ?? true;
}

/** Returns whether the API has an action and the caller may perform it. Until it has answered, no. */
export function offers(action: string, project: string): boolean {
  return actionsIn(project)?.includes(action) ?? false;
}

function actionsIn(place: string): readonly string[] | undefined {
  return lookUp('getSession', { query: { project: place || currentProject() } }).data?.actions;
}

/** Asks again what the caller may do, after a refusal. */
export function reloadPermissions(): void {
  invalidate('getSession');
}

/** Another token may do other things. */
export function startSession(): void {
  effect(() => {
    hasToken();
    untracked(() => invalidate('getSession'));
  });
  effect(() => {
    if (session.value?.environments !== undefined) isSignedOut.value = false;
  });
}
