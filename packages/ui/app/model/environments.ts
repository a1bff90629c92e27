import { isReviewed, type ReviewScope } from '@flags/core/admin';

/** Returns whether an environment is production: it is reviewed. If none is, the one that would be by default. */
export function isProductionIn(environment: string, { environments, reviewIn }: ReviewScope): boolean {
  return isReviewed(environment, { environments, reviewIn: reviewIn?.length === 0 ? undefined : reviewIn });
}

/** Orders environments: production first, then as the host lists them, then those that it does not list. */
export function productionFirst(names: Iterable<string>, scope: ReviewScope): readonly string[] {
  const place = (name: string) => {
    const index = scope.environments.indexOf(name);
    return index === -1 ? scope.environments.length : index;
  };
  const rank = (name: string) =>
    isProductionIn(name, scope) && place(name) < scope.environments.length ? -1 : place(name);
  return [...new Set(names)].toSorted((one, other) => rank(one) - rank(other));
}
