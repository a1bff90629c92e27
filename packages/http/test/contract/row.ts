import type { Flags } from '@flags/core';
import type { Method } from '../../src/api/route.js';
import type { PossibleCode } from '../../src/openapi/responses.js';
import type { Endpoint } from './endpoints.js';

/** One fact of the contract: in this state, this request gets this answer. */
export interface Row {
  readonly endpoint: Endpoint;
  readonly name: string;
  readonly given?: Step;
  readonly request: RowRequest;
  readonly expect: Expectation;
  /** Not for followers: they have no labels, report no addresses of their clients, and do not know tokens of administrators. */
  readonly isForEngines?: true;
}

/** Brings an engine into a state. */
export type Step = (flags: Flags) => Promise<unknown>;

export interface RowRequest {
  readonly method: Method;
  readonly path: string;
  /** Sent as JSON; text is sent as it is. */
  readonly body?: unknown;
  /** In addition to the token of an administrator or client; undefined omits a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface Expectation {
  readonly status: number;
  /** Refused for this reason; everything must be as before. */
  readonly code?: PossibleCode;
  /** Compared with `toEqual`; absent: only compared with the OpenAPI document; null: there must be none. */
  readonly body?: unknown;
  /** A part of the header's text. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Succeeds without changing anything, and without an event. */
  readonly unchanged?: true;
  /** Asserts the state afterwards. */
  readonly afterwards?: Step;
}

export function inOrder(...steps: readonly Step[]): Step {
  return async (flags) => {
    for (const step of steps) await step(flags);
  };
}
