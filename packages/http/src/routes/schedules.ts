import type { Schedule } from '@flags/core';
import { listReadableSchedules, SCHEDULE_STATES, scheduleNotFound } from '@flags/core/integration';
import type { ListedSchedule, ScheduleOptions } from '@flags/core/types';
import { type Route, revised, route } from '../api/route.js';
import type { Action } from '../auth/roles.js';
import { askForChanges, createAsking } from '../changes/permissions.js';
import { BODIES, changesSchema } from '../changes/wire.js';
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
import { CHANGE_ERRORS, changesIn, FEW_CHANGES, hasAtMost, idOf, withoutUndefined } from './changes.js';
import { SCHEDULE, SCHEDULES } from './paths.js';
import { type Asker, assertPermitted, listRoute, projectsOf } from './waiting.js';

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

/** Returns a schedule. One that the caller may not read does not exist for that caller. */
async function findReadable(asker: Asker, id: string, action: Action): Promise<Schedule> {
  const schedule = await asker.flags.getSchedule({ schedule: id });
  const projects = projectsOf(asker, schedule);
  await assertPermitted(asker, { projects, read: 'getSchedule', action, notFound: () => scheduleNotFound(id) });
  return schedule;
}

/** Changes that are applied at a time. */
export const scheduleRoutes: readonly Route[] = [
  listRoute({
    path: SCHEDULES,
    action: 'listSchedules',
    summary: 'List the schedules that the caller may read, in the order of their ids, without their changes',
    items: 'schedules',
    state,
    reply: scheduleListSchema,
    projectsOf,
    list: listReadableSchedules,
    toWire: listedScheduleToWire,
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
      // Without the rest of the members: a body may have a million.
      const sent = unchecked<ScheduleOptions>(Object(body));
      const { at, notAfter, ifUnchanged, reason = request.context.reason } = sent;
      const id = idOf(sent.id, request.context.id);
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
