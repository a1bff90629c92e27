/** What a request may see: `*` is any. A token names it; whoever comes in otherwise sees everything. */
export interface Scope {
  readonly project: string;
  readonly environment: string;
}

export const EVERYTHING: Scope = { project: '*', environment: '*' };
