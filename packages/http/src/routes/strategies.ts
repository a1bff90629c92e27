import type { ChangeContext, ErrorCode } from '@flags/core';
import { unchecked } from '../body.js';
import { type Route, type RouteRequest, route } from '../route.js';
import { strategyToWire } from '../wire/flag.js';
import { environmentRef, STRATEGIES, STRATEGY, strategyRef } from './paths.js';

const FLAG_CHANGE_ERRORS: readonly ErrorCode[] = [
  'project_not_found',
  'flag_not_found',
  'environment_not_found',
  'flag_archived',
  'revision_mismatch',
];

export const strategyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: STRATEGIES,
    action: 'addStrategy',
    summary: 'Add a strategy to a flag in one environment',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ strategy }) => strategy, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    handle: async ({ flags, params, body, check, context }) => ({
      body: strategyToWire(
        await flags.addStrategy(environmentRef(params), unchecked(body), withSegmentPermission(context, check)),
      ),
    }),
  }),
  route({
    method: 'PUT',
    path: STRATEGY,
    action: 'updateStrategy',
    summary: 'Replace a strategy; its id stays',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ strategyReplacement }) => strategyReplacement, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', 'strategy_not_found', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    handle: async ({ flags, params, body, check, context }) => ({
      body: strategyToWire(
        await flags.updateStrategy(strategyRef(params), unchecked(body), withSegmentPermission(context, check)),
      ),
    }),
  }),
  route({
    method: 'PATCH',
    path: STRATEGY,
    action: 'patchStrategy',
    summary: 'Change a strategy by a JSON Patch (RFC 6902)',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ jsonPatch }) => jsonPatch, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', 'invalid_patch', 'patch_test_failed', 'strategy_not_found', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    handle: async ({ flags, params, body, check, context }) => ({
      body: strategyToWire(
        await flags.patchStrategy(strategyRef(params), unchecked(body), withSegmentPermission(context, check)),
      ),
    }),
  }),
  route({
    method: 'DELETE',
    path: STRATEGY,
    action: 'removeStrategy',
    summary: 'Remove a strategy; the last one switches the environment off',
    tag: 'Strategies',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ['strategy_not_found', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.removeStrategy(strategyRef(params), context);
      return {};
    },
  }),
];

/**
 * Adds a `useSegment` check, because a strategy can reveal the values of a segment. Checks each project once, even if a
 * strategy uses several of its segments.
 */
export function withSegmentPermission<Context extends object>(
  context: Context,
  check: RouteRequest['check'],
): Context & Pick<ChangeContext, 'onSegmentUse'> {
  const checks = new Map<string | null, Promise<void>>();
  return {
    ...context,
    onSegmentUse({ project }) {
      const answer = checks.get(project) ?? check('useSegment', project);
      checks.set(project, answer);
      return answer;
    },
  };
}
