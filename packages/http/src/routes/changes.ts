import type { ApplyOptions, ChangeSet, ErrorCode, FlagRef, PlannedDocument, Preview } from '@flags/core';
import { projectsOf } from '@flags/core/integration';
import { isPermitted } from '../auth.js';
import { unchecked } from '../body.js';
import { type NeededPermission, permissionsOfChanges, permissionsOfUndo } from '../changes/permissions.js';
import { areAll, type ProjectFilter } from '../changes/visibility.js';
import { BODIES, changeSetToWire, planToWire, previewToWire, validatePreview } from '../changes/wire.js';
import type { Action } from '../permissions.js';
import { type Route, type RouteRequest, type RouteResult, route } from '../route.js';
import { describeActors } from '../users.js';
import { contextFromWire } from '../wire/client.js';
import { withSegmentPermission } from './flag-configuration.js';

const CHANGES = '/api/admin/changes';
const CHANGE = `${CHANGES}/:id`;

/** Every refusal of a single operation, because a set may contain any of them. */
const CHANGE_ERRORS: readonly ErrorCode[] = [
  'invalid_input',
  'project_not_found',
  'flag_not_found',
  'environment_not_found',
  'strategy_not_found',
  'role_not_found',
  'user_not_found',
  'member_not_found',
  'segment_not_found',
  'parent_not_found',
  'dependency_not_found',
  'project_exists',
  'flag_exists',
  'member_exists',
  'segment_exists',
  'flag_archived',
  'flag_not_archived',
  'flag_has_children',
  'segment_in_use',
  'dependency_cycle',
  'dependency_too_deep',
  'project_protected',
  'project_not_empty',
  'environment_has_no_strategies',
  'last_owner',
  'revision_mismatch',
  'change_set_too_large',
];

/** The invariants that an undo could break. */
const UNDO_ERRORS: readonly ErrorCode[] = [
  'project_not_empty',
  'segment_in_use',
  'flag_has_children',
  'dependency_too_deep',
  'last_owner',
];

export const changeRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: CHANGES,
    action: 'applyChanges',
    permissionBy: 'handler',
    summary: 'Carry out changes in their order, in one commit: all of them, or none',
    tag: 'Change sets',
    access: 'admin',
    body: { required: true, schema: () => BODIES.apply, checkedBy: 'core' },
    reply: { status: 200, schema: 'ChangeSet' },
    errors: CHANGE_ERRORS,
    changes: 'flag',
    async handle({ flags, body, check }) {
      const { needed, created, changes } = await permissionsOfChanges(flags, changesIn(body));
      await checkAll(check, 'applyChanges', needed);
      const { id, reason, ifRevision } = unchecked<ApplyOptions>(Object(body));
      const options = withSegmentPermission(withoutUndefined({ id, reason, ifRevision }), check);
      const applied = await flags.apply(changes, options);
      if (id !== undefined) {
        // A repeated id returns the first result, whatever was asked for this time.
        const asked = new Set([...created, ...needed.map(({ project }) => project)]);
        for (const project of projectsOf(applied.events)) if (!asked.has(project)) await check('applyChanges', project);
      }
      return shown(applied);
    },
  }),
  route({
    method: 'POST',
    path: `${CHANGES}/plan`,
    action: 'planChanges',
    permission: 'previewChanges',
    permissionBy: 'handler',
    summary: 'What changes would do: the documents before and after, and the events; changes nothing',
    tag: 'Change sets',
    access: 'admin',
    body: { required: true, schema: () => BODIES.plan, checkedBy: 'core' },
    reply: { status: 200, schema: 'Plan' },
    errors: CHANGE_ERRORS,
    async handle({ flags, principal, body, check }) {
      const { needed, created, changes } = await permissionsOfChanges(flags, changesIn(body));
      await checkProjects(check, 'previewChanges', needed);
      const { documents } = await flags.plan(changes);
      const maySee = createProjectFilter(principal, 'previewChanges', [...created]);
      const visible: PlannedDocument[] = [];
      for (const document of documents) if (await areAll(projectsOfDocument(document), maySee)) visible.push(document);
      return { chunks: planToWire({ documents: visible }) };
    },
  }),
  route({
    method: 'POST',
    path: `${CHANGES}/preview`,
    action: 'previewChanges',
    permissionBy: 'handler',
    summary: 'Who would see what before and after changes, for up to 1,000 contexts; changes nothing',
    tag: 'Change sets',
    access: 'admin',
    body: { required: true, schema: () => BODIES.preview, checkedBy: 'core' },
    reply: { status: 200, schema: 'Preview' },
    errors: CHANGE_ERRORS,
    async handle({ flags, principal, body, check }) {
      const { needed, created, changes } = await permissionsOfChanges(flags, changesIn(body));
      await checkProjects(check, 'previewChanges', needed);
      const { environment, contexts } = validatePreview(body);
      const query = { environment, contexts: contexts.map((context) => contextFromWire(context)) };
      const preview = await flags.preview(changes, query);
      const maySee = createProjectFilter(principal, 'previewChanges', [...created]);
      const visible: Preview['flags'][number][] = [];
      for (const flag of preview.flags) if (await maySee(flag.project)) visible.push(flag);
      return { chunks: previewToWire({ flags: visible }) };
    },
  }),
  route({
    method: 'GET',
    path: CHANGE,
    action: 'getChange',
    permissionBy: 'anyProject',
    summary: 'A change set with its events',
    tag: 'Change sets',
    access: 'admin',
    streamed: 'flags',
    reply: { status: 200, schema: 'ChangeSet' },
    errors: ['change_set_not_found'],
    async handle({ flags, params, check, describeUsers }) {
      const changeSet = await flags.getChangeSet(params.id);
      for (const project of projectsOf(changeSet.events)) await check('getChange', project);
      const first = changeSet.events.slice(0, 1);
      const { userOf, audience } = await describeActors(describeUsers, first);
      return { chunks: changeSetToWire(changeSet, userOf(first[0])), audience };
    },
  }),
  route({
    method: 'POST',
    path: `${CHANGE}/undo`,
    action: 'undoChange',
    permissionBy: 'anyProject',
    summary: 'Take back a change set, in one commit; later changes of other parts stay',
    tag: 'Change sets',
    access: 'admin',
    body: { required: false, schema: () => BODIES.undo, checkedBy: 'router' },
    reply: { status: 200, schema: 'ChangeSet' },
    errors: ['invalid_input', 'change_set_not_found', 'undo_conflict', ...UNDO_ERRORS],
    changes: 'flag',
    async handle({ flags, params, body, check }) {
      const changeSet = await flags.getChangeSet(params.id);
      for (const project of projectsOf(changeSet.events)) await check('undoChange', project);
      await checkAll(check, 'undoChange', await permissionsOfUndo(flags, changeSet));
      const { reason } = unchecked<{ readonly reason?: string } | undefined>(body) ?? {};
      return shown(await flags.undo(params.id, withoutUndefined({ reason })));
    },
  }),
];

/** Returns the changes in a body, as they were sent. The engine refuses anything but a list. */
function changesIn(body: unknown): unknown {
  return (Object(body) as { readonly changes?: unknown }).changes;
}

function withoutUndefined<T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

type Check = RouteRequest['check'];

/** Asks for the action of the set in every project of its changes, then for the action of each change. */
async function checkAll(check: Check, action: Action, needed: readonly NeededPermission[]): Promise<void> {
  await checkProjects(
    check,
    action,
    needed.filter((one) => one.action !== 'useSegment'),
  );
  const asked = new Set<string>();
  for (const { action: own, project } of needed) {
    const key = JSON.stringify([own, project]);
    if (own !== action && !asked.has(key)) await check(own, project);
    asked.add(key);
  }
}

/** A set without changes is about the instance. */
async function checkProjects(check: Check, action: Action, needed: readonly NeededPermission[]): Promise<void> {
  const projects = new Set(needed.map(({ project }) => project));
  for (const project of projects.size > 0 ? projects : [null]) await check(action, project);
}

/** Creates a function that asks once per project whether the caller may see it. New projects are the caller's own. */
export function createProjectFilter(
  principal: RouteRequest['principal'],
  action: Action,
  created: readonly string[] = [],
): ProjectFilter {
  const answers = new Map<string | null, Promise<boolean>>(created.map((project) => [project, Promise.resolve(true)]));
  return (project) => {
    const answer = answers.get(project) ?? isPermitted(principal, action, project);
    answers.set(project, answer);
    return answer;
  };
}

function projectsOfDocument({ kind, id, before, after }: PlannedDocument): ReadonlySet<string | null> {
  if (kind === 'project') return new Set([id]);
  const states = [before, after].filter((state) => state !== null) as readonly { readonly project?: string | null }[];
  return new Set(states.map(({ project = null }) => project));
}

/** The answer of a set that changed one flag alone has the `ETag` of the flag. */
function shown(changeSet: ChangeSet): RouteResult {
  return { chunks: changeSetToWire(changeSet), ...flagOf(changeSet) };
}

function flagOf({ events, revisions }: ChangeSet): { readonly flag?: FlagRef; readonly revision?: number } {
  const [written, ...others] = Object.entries(revisions);
  const last = events.at(-1);
  if (!written || others.length > 0 || !last || last.flag === null || last.project === null) return {};
  const { project } = Object(last.type === 'flag-moved' ? last.data : last) as { readonly project: string };
  return { flag: { project, flag: last.flag }, revision: written[1] };
}
