import type { ErrorDetail, JsonSchema, Member, Role } from '@flags/core';
import { invalidInput } from '../errors/invalid-input.js';
import { jsonArray, jsonObject } from '../json-chunks.js';
import { positiveInteger } from './positive-integer.js';

export interface MemberParams {
  readonly projectId: string;
  readonly userId: string;
  readonly roleId: string;
}

/** The body repeats the path. */
export const memberBodySchema: JsonSchema = {
  type: 'object',
  properties: { userId: { type: 'integer' }, projectId: { type: 'string' }, roleId: { type: 'integer' } },
};

/** Reads a member from a path, and refuses a body that contradicts it. */
export function memberFromWire(params: MemberParams, body: unknown): Member {
  const member = { userId: positiveInteger(params.userId), roleId: positiveInteger(params.roleId) };
  const { userId, roleId } = member;
  const faults = [
    ...(userId === undefined ? [{ message: 'must be a positive integer', path: '/userId' }] : []),
    ...(roleId === undefined ? [{ message: 'must be a positive integer', path: '/roleId' }] : []),
    ...contradictions({ ...member, projectId: params.projectId }, body),
  ];
  if (userId === undefined || roleId === undefined || faults.length > 0) throw invalidInput(faults);
  return { userId, roleId };
}

export function memberListToWire(roles: readonly Role[], members: readonly Member[]) {
  return jsonObject({
    roles: roles.map(({ id, name }) => ({ id, name })),
    users: jsonArray(members, ({ userId, roleId }) => ({ id: userId, roleId })),
  });
}

function contradictions(path: Readonly<Record<string, unknown>>, body: unknown): readonly ErrorDetail[] {
  return Object.entries(body ?? {})
    .filter(([name, value]) => Object.hasOwn(path, name) && path[name] !== undefined && path[name] !== value)
    .map(([name]) => ({ message: 'contradicts the path', path: `/${name}` }));
}
