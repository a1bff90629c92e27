import type { ErrorCode, Rollout } from '@flags/core';
import { listReadableRollouts, ROLLOUT_STATES } from '@flags/core/integration/http';
import { ROLLOUT, ROLLOUTS } from '../../api/paths.js';
import { parameter } from '../../api/query.js';
import { readableListRoute } from '../../api/readable-list.js';
import { changeAndReply, route } from '../../api/route.js';
import { unchecked } from '../../messages/request.js';
import { boolean } from '../../messages/schema.js';
import { endedRolloutSchema, rolloutSchema, rolloutToWire as toWire } from '../flags/rollout-wire.js';

/** An archived flag has no rollout. Only a start and an early step need approval. */
const NEVER: readonly ErrorCode[] = ['flag_archived', 'approval_required'];

/** Percentages that change in steps. */
export const rolloutRoutes = [
  readableListRoute({
    path: ROLLOUTS,
    action: 'listRollouts',
    summary: 'List the rollouts that the caller may read, by flag, environment and strategy',
    component: 'RolloutList',
    member: 'rollouts',
    noun: 'rollouts',
    states: ROLLOUT_STATES,
    item: rolloutSchema,
    list: listReadableRollouts,
    canRead: (_, { ref }: Rollout, maySee) => maySee(ref.project),
    toWire,
  }),
  route('POST', ROLLOUT, 'startRollout', {
    summary: 'Change the percentage of a strategy in steps; the first one is taken at once',
    status: 201,
    body: 'newRollout',
    reply: rolloutSchema,
    errors: ['environment_disabled', 'rollout_exists', 'due_disabled'],
    changes: 'flag',
    handle: ({ flags, ref, body, context }) =>
      changeAndReply(flags, 'startRollout', { ref, input: unchecked(body), context, toWire }),
  }),
  route('DELETE', ROLLOUT, 'stopRollout', {
    summary: 'End a rollout; the percentage stays, or becomes that from before the start',
    query: [parameter('rollback', 'Restore the percentage from before the start. Default: false.', boolean)],
    reply: endedRolloutSchema,
    errors: ['rollout_not_found'],
    never: NEVER,
    changes: 'flag',
    handle: ({ flags, ref, query, context }) =>
      changeAndReply(flags, 'stopRollout', { ref, input: unchecked(query), context, toWire }),
  }),
  route('POST', `${ROLLOUT}/pause`, 'pauseRollout', {
    summary: 'Pause a rollout, whose hold runs on',
    reply: rolloutSchema,
    errors: ['rollout_not_found'],
    never: NEVER,
    changes: 'flag',
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'pauseRollout', { ref, context, toWire }),
  }),
  route('POST', `${ROLLOUT}/resume`, 'resumeRollout', {
    summary: 'Resume a paused rollout',
    reply: rolloutSchema,
    errors: ['rollout_not_found'],
    never: NEVER,
    changes: 'flag',
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'resumeRollout', { ref, context, toWire }),
  }),
  route('POST', `${ROLLOUT}/advance`, 'advanceRollout', {
    summary: 'Take the next step now, without the guard; after the last one the rollout has ended',
    body: { schema: ({ rolloutAdvance }) => rolloutAdvance, required: false, checkedBy: 'core' },
    reply: { anyOf: [rolloutSchema, endedRolloutSchema] },
    errors: ['rollout_not_found'],
    never: ['flag_archived'],
    changes: 'flag',
    handle: ({ flags, ref, body, context }) =>
      changeAndReply(flags, 'advanceRollout', { ref, input: unchecked(body ?? {}), context, toWire }),
  }),
];
