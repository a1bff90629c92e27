import type { Token } from '@flags/core';

/** What a request may see. A token names it; callers without a token see everything. */
export interface Scope {
  /** Ids of projects; `*` is all of them. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` is any. */
  readonly environment: string;
}

export const EVERYTHING: Scope = { projects: '*', environment: '*' };

export function scopeOf({ projects, environment }: Pick<Token, 'projects' | 'environment'>): Scope {
  return { projects: projects.includes('*') ? '*' : projects, environment };
}
