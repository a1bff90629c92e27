import { defaultEnvironment as preferredEnvironment, type ReviewScope } from '@flags/core/admin';
import { computed, effect, untracked } from '@preact/signals';
import { hasToken, isSignedOut } from '../api/credentials.js';
import { invalidate, lookUp } from '../api/resource.js';
import type { Session } from '../api/types.js';
import { isProductionIn } from '../model/environments.js';
import { currentProject } from '../router.js';
import { settings } from '../settings.js';

/** The session of the caller; undefined until the API has replied. */
export const session = computed<Session | undefined>(() => lookUp('getSession', {}).data);
export const sessionError = computed(() => lookUp('getSession', {}).error);

/** Whether the caller has access. Only then the session has environments. */
export const isLetIn = computed(() => session.value?.environments !== undefined && !isSignedOut.value);

/** The names of the environments, in the order of the host. */
export const environmentNames = computed(() => (session.value?.environments ?? []).map(({ name }) => name));

/** The environment of the page if the URL does not name one. */
export const defaultEnvironment = computed(
  () => session.value?.environment ?? preferredEnvironment(environmentNames.value),
);

/** Whether the service applies requests at a time, and takes the steps of rollouts. */
export const acceptsTimes = computed(() => session.value?.acceptsTimes ?? false);

/** The environments whose changes need a review. */
export const reviewScope = computed<ReviewScope>(() => ({
  environments: environmentNames.value,
  reviewIn: settings.reviewIn,
}));

/** Returns whether an environment is production, in which mistakes matter most. */
export function isProduction(environment: string): boolean {
  return isProductionIn(environment, reviewScope.value);
}

/**
 * Returns whether the caller may perform an action. True until the API has replied, or if it lists no actions. For
 * all projects (`''`) uses the last project: actions on a flag check again with the project of the flag.
 */
export function may(action: string, place: string): boolean {
  return actionsIn(place)?.includes(action) ?? true;
}

/** Returns whether the API has an action and the caller may perform it. Returns false until the API has replied. */
export function offers(action: string, project: string): boolean {
  return actionsIn(project)?.includes(action) ?? false;
}

function actionsIn(place: string): readonly string[] | undefined {
  return lookUp('getSession', { query: { project: place || currentProject() } }).data?.actions;
}

/** Another token may have other permissions. */
export function startSession(): void {
  effect(() => {
    hasToken();
    untracked(() => invalidate('getSession'));
  });
  effect(() => {
    if (session.value?.environments !== undefined) isSignedOut.value = false;
  });
}
