import type { ApplicationRegistration } from '@flags/core';
import type { ApplicationRow } from './merged-reports.js';

/** What several registrations of an application write; null: what is stored stays. */
export interface RegisteredApplication {
  readonly strategies: string | null;
  readonly description: string | null;
  readonly url: string | null;
  readonly color: string | null;
  /** False: the color that is stored stays. */
  readonly hasColor: boolean;
  readonly icon: string | null;
}

const UNREGISTERED: RegisteredApplication = {
  strategies: null,
  description: null,
  url: null,
  color: null,
  hasColor: false,
  icon: null,
};

/** For each of the applications, in their order, what its registrations have told; of several the latest counts. */
export function mergeRegistrations(
  applications: readonly ApplicationRow[],
  registrations: readonly ApplicationRegistration[],
): readonly RegisteredApplication[] {
  const registered = new Map<string, RegisteredApplication>();
  for (const registration of registrations) {
    const { application } = registration;
    registered.set(application, renewed(registered.get(application) ?? UNREGISTERED, registration));
  }
  return applications.map(({ name }) => registered.get(name) ?? UNREGISTERED);
}

function renewed(before: RegisteredApplication, next: ApplicationRegistration): RegisteredApplication {
  const hasColor = next.color !== undefined;
  return {
    strategies: JSON.stringify(next.strategies),
    description: next.description ?? before.description,
    url: next.url ?? before.url,
    color: hasColor ? (next.color ?? null) : before.color,
    hasColor: hasColor || before.hasColor,
    icon: next.icon ?? before.icon,
  };
}
