import type { ChangeContext, ErrorCode, Flags, Rollout, StrategyRef } from '@flags/core';
import { listReadableRollouts, ROLLOUT_STATES, rolloutNotFound } from '@flags/core/integration';
import type { AdvanceOptions, NewRollout, StopOptions } from '@flags/core/types';
import { projectIn } from '../api/body.js';
import { type Route, type RouteRequest, revised, route, TOO_LARGE } from '../api/route.js';
import { createAsking } from '../changes/permissions.js';
import { BODIES } from '../changes/wire.js';
import { invalidInput } from '../messages/errors.js';
import { unchecked } from '../messages/request.js';
import {
  boolean,
  count,
  example,
  listOf,
  nullableText,
  objectComponent,
  optionalTimestamp,
  strictObject,
  text,
  timestamp,
  version,
} from '../wire/schema.js';
import { idOf, withoutUndefined } from './changes.js';
import { ROLLOUT, ROLLOUTS } from './paths.js';
import { authorSchema, authorToWire, failureSchema } from './schedules.js';
import { type Asker, assertPermitted, listRoute } from './waiting.js';

const state = example('running', { type: 'string', enum: ROLLOUT_STATES });
const percentage = example(25, { type: 'number', minimum: 0, maximum: 100 });

const rollout = {
  id: example('0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b12'),
  state,
  ref: strictObject({ project: text, flag: text, environment: text, strategy: text }),
  steps: listOf(
    strictObject({
      rollout: { ...percentage, description: 'The percentage.' },
      hold: {
        ...example(3_600_000, { anyOf: [count, { type: 'null' }] }),
        description: 'Milliseconds until the next step; null: until somebody advances the rollout.',
      },
    }),
  ),
  step: { ...count, description: 'The index of the step that is taken.' },
  startedFrom: { ...percentage, description: 'The percentage from before the start.' },
  since: { ...timestamp, description: 'When the step was taken.' },
  nextAt: {
    ...optionalTimestamp,
    description: 'When the next step is due, or the rollout is done; null if its hold has no end, and after the end.',
  },
  guarded: { ...boolean, description: 'Only a process with `rolloutGuard` takes its steps.' },
  approval: {
    ...example(null, nullableText),
    description: 'What permits its steps in a protected environment: `proposal/ID`, or `bypass`; null: nothing.',
  },
  author: authorSchema,
  createdAt: timestamp,
  reason: nullableText,
  endedAt: {
    ...example(null, optionalTimestamp),
    description: 'When it was done, ended or was rolled back; null before.',
  },
  ended: {
    ...example(null, {
      anyOf: [
        strictObject({
          reason: { ...example('stopped'), description: '`stopped`, `guard`, or the other change of the flag.' },
          changeSet: nullableText,
        }),
        { type: 'null' },
      ],
    }),
    description: 'Why it ended before its last step; null unless it did.',
  },
  failure: { ...failureSchema, description: 'Why its next step was refused; null unless that paused it.' },
};

const rolloutSchema = objectComponent('Rollout', rollout);

const rolloutListSchema = objectComponent(
  'RolloutList',
  { version, rollouts: listOf(rolloutSchema) },
  { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
);

export function rolloutToWire({ author, revision, ...rest }: Rollout) {
  return { ...rest, author: authorToWire(author) };
}

/** Returns the project of a rollout when it began, and the present one of its flag. */
function projectsOf({ flags }: Pick<Asker, 'flags'>, { ref }: Pick<Rollout, 'ref'>): ReadonlySet<string> {
  return new Set([ref.project, flags.projectOf({ flag: ref.flag }) ?? ref.project]);
}

/** Returns a rollout. One that the caller may not read does not exist for that caller. */
async function findReadable(asker: Asker, id: string): Promise<Rollout> {
  const found = await asker.flags.getRollout({ rollout: id });
  const projects = projectsOf(asker, found);
  const read = 'getRollout';
  await assertPermitted(asker, { projects, read, action: read, notFound: () => rolloutNotFound(id) });
  return found;
}

/** The strategy in a body. The core would read a missing project as any. */
function strategyIn(body: unknown): StrategyRef {
  const { ref } = Object(body) as { readonly ref?: unknown };
  const members = ['project', 'flag', 'environment', 'strategy'];
  const given = Object(ref) as Readonly<Record<string, unknown>>;
  const missing = members.filter((name) => typeof given[name] !== 'string');
  if (missing.length === 0) return given as unknown as StrategyRef;
  throw invalidInput(missing.map((name) => ({ message: 'must be text', path: `/ref/${name}` })));
}

type Moving = RouteRequest<'rolloutId'>;

interface Move {
  readonly name: 'pauseRollout' | 'resumeRollout' | 'advanceRollout' | 'stopRollout';
  readonly path: 'pause' | 'resume' | 'advance' | 'stop';
  readonly summary: string;
  readonly body?: Route['body'];
  readonly move: (flags: Flags, rollout: string, given: { body: unknown; context: ChangeContext }) => Promise<Rollout>;
}

const MOVES: readonly Move[] = [
  {
    name: 'pauseRollout',
    path: 'pause',
    summary: 'Pause a rollout, whose hold runs on',
    move: (flags, id, { context }) => flags.pauseRollout({ rollout: id }, context),
  },
  {
    name: 'resumeRollout',
    path: 'resume',
    summary: 'Resume a paused rollout',
    move: (flags, id, { context }) => flags.resumeRollout({ rollout: id }, context),
  },
  {
    name: 'advanceRollout',
    path: 'advance',
    summary: 'Take the next step now, without the guard',
    body: { schema: BODIES.advance, required: false, checkedBy: 'core' },
    move: (flags, id, { body, context }) =>
      flags.advanceRollout({ rollout: id }, unchecked<AdvanceOptions>(body ?? {}), context),
  },
  {
    name: 'stopRollout',
    path: 'stop',
    summary: 'End a rollout; the percentage stays, or becomes that from before the start',
    body: { schema: BODIES.stop, required: false, checkedBy: 'core' },
    move: (flags, id, { body, context }) =>
      flags.stopRollout({ rollout: id }, unchecked<StopOptions>(body ?? {}), context),
  },
];

function moveRoute({ name, path, summary, body, move }: Move): Route {
  return route('POST', `${ROLLOUT}/${path}`, name, {
    permission: 'changeRollout',
    permissionBy: 'anyProject',
    summary,
    ...(body && { body }),
    reply: rolloutSchema,
    // A step that waits for a person was approved with the rollout. One that cuts a hold short was not.
    errors: ['rollout_not_active', ...(path === 'advance' ? (['approval_required'] as const) : [])],
    changes: 'rollout',
    async handle({ params, context, body: sent, ...request }: Moving) {
      const asking = createAsking(request, { action: 'changeRollout' });
      const found = await findReadable(request, params.rolloutId);
      for (const project of projectsOf(request, found)) await asking.ask('changeRollout', project);
      const given = { body: sent, context };
      return revised(await move(asking.flags, found.id, given), rolloutToWire);
    },
  });
}

const START_ERRORS: readonly ErrorCode[] = [
  'invalid_input',
  'flag_not_found',
  'flag_archived',
  'environment_not_found',
  'environment_disabled',
  'strategy_not_found',
  'rollout_exists',
  'schedules_disabled',
  'approval_required',
  ...TOO_LARGE,
];

/** Percentages that change in steps. */
export const rolloutRoutes: readonly Route[] = [
  listRoute({
    path: ROLLOUTS,
    action: 'listRollouts',
    summary: 'List the rollouts that the caller may read, in the order of their ids',
    items: 'rollouts',
    state,
    reply: rolloutListSchema,
    projectsOf,
    list: listReadableRollouts,
    toWire: rolloutToWire,
  }),
  route('POST', ROLLOUTS, 'startRollout', {
    permissionBy: 'handler',
    summary: 'Change the percentage of a strategy in steps; the first one is taken at once',
    status: 201,
    body: { schema: BODIES.rollout, checkedBy: 'core' },
    reply: rolloutSchema,
    errors: START_ERRORS,
    changes: 'rollout',
    async handle({ body, ...request }) {
      const asking = createAsking(request, { action: 'startRollout' });
      const { ref, reason = request.context.reason, id: given, steps, guarded } = unchecked<SentRollout>(Object(body));
      const project = projectIn(ref) ?? null;
      await asking.ask('startRollout', project);
      await asking.ask('updateStrategy', project);
      const id = idOf(given, request.context.id);
      const { bypassApproval } = request.context;
      const context = withoutUndefined({ id, reason, bypassApproval });
      const started = await asking.flags.startRollout(strategyIn(body), { steps, guarded }, context);
      // A repeated id returns the earlier rollout, whose flag may be in another project by now.
      for (const one of projectsOf(request, started)) await asking.ask('startRollout', one);
      return revised(started, rolloutToWire);
    },
  }),
  route('GET', ROLLOUT, 'getRollout', {
    permissionBy: 'anyProject',
    summary: 'Get a rollout',
    reply: rolloutSchema,
    caching: { by: 'flags' },
    async handle({ params, ...request }) {
      return revised(await findReadable(request, params.rolloutId), rolloutToWire);
    },
  }),
  ...MOVES.map(moveRoute),
];

type SentRollout = NewRollout & Pick<ChangeContext, 'id' | 'reason'> & { readonly ref?: unknown };
