import type { ErrorCode } from '@flags/core';
import { ERROR_KINDS } from '../errors/error-kinds.js';
import type { RefusalCode } from '../errors/refusal.js';
import type { Route } from '../route.js';
import type { AuthMode } from './security.js';

export type PossibleCode = ErrorCode | RefusalCode;

/** The codes of every error that a route can answer, by status. */
export function possibleErrors(route: Route, auth: AuthMode): ReadonlyMap<number, readonly PossibleCode[]> {
  const codes = [...new Set([...general(route, auth), ...route.errors])].sort();
  const statuses = new Set(codes.map(statusOf).sort());
  return new Map([...statuses].map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
}

function statusOf(code: PossibleCode): number {
  return ERROR_KINDS[code].status;
}

/** What a row does not list, since it goes without saying. */
function general(route: Route, auth: AuthMode): readonly PossibleCode[] {
  return [
    ...(auth === 'none' ? [] : (['unauthenticated'] as const)),
    'forbidden',
    ...(isGuarded(route) && auth !== 'token' ? (['cross_origin'] as const) : []),
    ...(auth === 'none' ? (['host_not_allowed'] as const) : []),
    ...(route.path.includes(':') ? (['invalid_input'] as const) : []),
    ...(route.body === undefined ? [] : bodyErrors(route)),
    ...(route.ifMatch === undefined ? [] : (['revision_mismatch'] as const)),
    ...(writesDefinitions(route) ? (['document_too_large', 'state_too_large'] as const) : []),
    ...(route.method === 'GET' ? [] : (['too_much_contention', 'outcome_unknown'] as const)),
    'storage_busy',
    'storage_unavailable',
    'closed',
  ];
}

const DEFINITION_TAGS: readonly string[] = [
  ...['Projects', 'Members', 'Flags', 'Strategies', 'Variants', 'Segments', 'Dependencies'],
];

/** Requests without a body only switch and delete. */
function writesDefinitions({ tag, body }: Route): boolean {
  return body !== undefined && DEFINITION_TAGS.includes(tag);
}

function bodyErrors({ body }: Route): readonly PossibleCode[] {
  const reading = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;
  return body?.required ? [...reading, 'invalid_input'] : reading;
}

/** Whether pages of other origins are refused. */
function isGuarded({ method, access }: Route): boolean {
  return method !== 'GET' && (access === 'admin' || access === 'client');
}
