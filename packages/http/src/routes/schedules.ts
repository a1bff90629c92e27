import type { Schedule } from '@flags/core';
import {
  type CanReadSchedule,
  listReadableSchedules,
  SCHEDULE_STATES,
  scheduleNotFound,
} from '@flags/core/integration';
import type { ListedSchedule, ScheduleOptions, ScheduleQuery } from '@flags/core/types';
import { parameter } from '../api/query.js';
import { type Route, type RouteRequest, revised, route } from '../api/route.js';
import { createProjectFilter, isPermitted } from '../auth/permissions.js';
import type { Action } from '../auth/roles.js';
import { askForChanges, createAsking } from '../changes/permissions.js';
import { BODIES, changesSchema } from '../changes/wire.js';
import { areAll } from '../events/event-filter.js';
import { jsonArray } from '../messages/json.js';
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
import { CHANGE_ERRORS, changesIn, FEW_CHANGES, hasAtMost, idOf, PAGE, withoutUndefined } from './changes.js';
import { SCHEDULE, SCHEDULES } from './paths.js';

const state = example('pending', { type: 'string', enum: SCHEDULE_STATES });

export const authorSchema = strictObject({
  name: example('ada@example.org'),
  tokenId: { ...nullableText, description: 'The id of the API token that made it; null if there was none.' },
  tokenType: nullableText,
});

export const failureSchema = example(null, {
  anyOf: [
    strictObject({ code: text, message: text, details: listOf(strictObject({ message: text }, { path: text })) }),
    { type: 'null' },
  ],
});

const listed = {
  id: example('0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11'),
  state,
  at: { ...timestamp, description: 'When it is due.' },
  notAfter: { ...timestamp, description: 'When it expires instead.' },
  ifUnchanged: boolean,
  author: authorSchema,
  createdAt: timestamp,
  reason: nullableText,
  proposal: {
    ...example(null, nullableText),
    description: 'The id of the proposal that it applies; null without one.',
  },
  flags: listOf(strictObject({ project: text, flag: text })),
  environments: listOf(text),
  endedAt: {
    ...example(null, optionalTimestamp),
    description: 'When it was applied, failed, expired or was cancelled; null while it is pending.',
  },
  lateBy: {
    ...example(null, { anyOf: [count, { type: 'null' }] }),
    description: 'Milliseconds between `at` and the commit; null unless it was applied.',
  },
  changeSet: {
    ...example(null, nullableText),
    description: 'The id of its change set; null if it has not been applied, or changed nothing.',
  },
  failure: { ...failureSchema, description: 'Why it failed; null unless it failed.' },
};

const scheduleSchema = objectComponent('Schedule', { ...listed, changes: changesSchema });

const scheduleListSchema = objectComponent(
  'ScheduleList',
  { version, schedules: listOf(strictObject(listed)) },
  { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
);

export function authorToWire({ name, token }: ListedSchedule['author']) {
  return { name, tokenId: token?.id ?? null, tokenType: token?.kind ?? null };
}

export function listedScheduleToWire({ author, projects, revision, ...schedule }: ListedSchedule) {
  return { ...schedule, author: authorToWire(author) };
}

export function scheduleToWire({ changes, ...schedule }: Schedule) {
  return { ...listedScheduleToWire(schedule), changes };
}

type Asker = Pick<RouteRequest, 'flags' | 'principal'>;

/** Returns the projects of a schedule when it was made, and the present ones of its flags. */
function projectsOf({ flags }: Pick<Asker, 'flags'>, schedule: ListedSchedule): ReadonlySet<string | null> {
  const present = schedule.flags.map(({ flag }) => flags.projectOf({ flag }));
  return new Set([...schedule.projects, ...present.filter((project) => project !== undefined)]);
}

/** Returns a schedule. One that the caller may not read does not exist for that caller. */
async function findReadable({ flags, principal }: Asker, id: string, action: Action): Promise<Schedule> {
  const schedule = await flags.getSchedule({ schedule: id });
  const mayRead = (project: string | null) => isPermitted(principal, 'getSchedule', project);
  if (!(await areAll(projectsOf({ flags }, schedule), mayRead))) throw scheduleNotFound(id);
  for (const project of projectsOf({ flags }, schedule)) await principal.check(action, project);
  return schedule;
}

/** Changes that are applied at a time. */
export const scheduleRoutes: readonly Route[] = [
  route('GET', SCHEDULES, 'listSchedules', {
    permissionBy: 'anyProject',
    summary: 'List the schedules that the caller may read, in the order of their ids, without their changes',
    query: [
      parameter('state', 'Only schedules in this state.', state),
      parameter('project', 'Only schedules of this project, or with a flag that is there now.'),
      parameter('flag', 'Only schedules of this flag.'),
      ...PAGE,
    ],
    paged: 'always',
    heavy: 'read',
    waits: true,
    caching: { by: 'flags' },
    reply: scheduleListSchema,
    async handle({ flags, principal, query }) {
      const { limit = 100, after, ...selected } = unchecked<ScheduleQuery & { limit?: number; after?: string }>(query);
      const maySee = createProjectFilter(principal, 'listSchedules');
      const canRead: CanReadSchedule = (schedule) => areAll(projectsOf({ flags }, schedule), maySee);
      const { items, next } = await listReadableSchedules(flags, selected, { page: { limit, after }, canRead });
      const body = { version: 1, schedules: jsonArray(items, listedScheduleToWire), next };
      return { body, next: next === undefined ? undefined : { after: next } };
    },
  }),
  route('POST', SCHEDULES, 'createSchedule', {
    permissionBy: 'handler',
    summary: 'Apply changes at a time, in one commit: all of them or none',
    status: 201,
    body: { schema: BODIES.schedule, checkedBy: 'core' },
    reply: scheduleSchema,
    errors: [...CHANGE_ERRORS, 'schedules_disabled', 'approval_required'],
    heavy: 'change',
    isLight: ({ body }) => hasAtMost(FEW_CHANGES, body),
    changes: 'schedule',
    async handle({ body, ...request }) {
      const asking = createAsking(request, { action: 'createSchedule' });
      const changes = await askForChanges(asking, changesIn(body));
      const { reason = request.context.reason, id: given, ...times } = unchecked<ScheduleOptions>(Object(body));
      const { at, notAfter, ifUnchanged } = times;
      const id = idOf(given, request.context.id);
      const { bypassApproval } = request.context;
      const options = withoutUndefined({ notAfter, ifUnchanged, id, reason, bypassApproval });
      const schedule = await asking.flags.createSchedule(changes, { at, ...options });
      // A repeated id returns the earlier schedule, whose flags may be in other projects by now.
      for (const project of projectsOf(request, schedule)) await asking.ask('createSchedule', project);
      return revised(schedule, scheduleToWire);
    },
  }),
  route('GET', SCHEDULE, 'getSchedule', {
    permissionBy: 'anyProject',
    summary: 'Get a schedule with its changes',
    reply: scheduleSchema,
    caching: { by: 'flags' },
    async handle({ params, ...request }) {
      return revised(await findReadable(request, params.scheduleId, 'getSchedule'), scheduleToWire);
    },
  }),
  route('DELETE', SCHEDULE, 'cancelSchedule', {
    permissionBy: 'anyProject',
    summary: 'Cancel a pending schedule, which remains as a cancelled one',
    reply: scheduleSchema,
    errors: ['schedule_not_pending'],
    changes: 'schedule',
    async handle({ params, context, ...request }) {
      const { id: schedule } = await findReadable(request, params.scheduleId, 'cancelSchedule');
      return revised(await request.flags.cancelSchedule({ schedule }, context), scheduleToWire);
    },
  }),
];
