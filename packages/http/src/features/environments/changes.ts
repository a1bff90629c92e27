import type {
  ApplyOptions,
  ChangePlan,
  ChangePreview,
  ChangeSet,
  ErrorCode,
  FlagEffect,
  PlannedDocument,
} from '@flags/core';
import { CHANGES } from '../../api/paths.js';
import { ID_HEADER, type RouteRequest, type RouteResult, route } from '../../api/route.js';
import {
  createProjectFilter,
  type ProjectFilter,
  projectsCreatedBy,
  projectsOfDocument,
} from '../../auth/permissions.js';
import { checkChanges, checkCommitted, createChangePermissions } from '../../changes/change-permissions.js';
import { hasMembers, maySeeAll } from '../../events/event-filter.js';
import { invalidInput } from '../../messages/errors.js';
import { unchecked } from '../../messages/request.js';
import {
  BODIES,
  changeSetSchema,
  changeSetToWire,
  planSchema,
  planToWire,
  previewSchema,
  previewToWire,
  type VisibleEffects,
  validatePreview,
} from './changes-wire.js';
import { contextFromWire } from './wire.js';

/** Every refusal of a single operation, because a set may contain any of them. */
export const CHANGE_ERRORS: readonly ErrorCode[] = [
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
  'environment_disabled',
  'rollout_exists',
  'rollout_not_found',
  'due_disabled',
  'last_owner',
  'revision_mismatch',
  'change_set_too_large',
];

/** The invariants that an undo could break. */
export const UNDO_ERRORS: readonly ErrorCode[] = [
  'project_not_empty',
  'segment_in_use',
  'flag_has_children',
  'dependency_too_deep',
  'last_owner',
];

export const changeRoutes = [
  route('POST', CHANGES, 'applyChanges', {
    permissionIn: 'handler',
    summary: 'Apply changes in order, in one commit: all of them or none',
    body: { schema: BODIES.apply, checkedBy: 'core' },
    reply: changeSetSchema,
    errors: CHANGE_ERRORS,
    long: {
      kind: 'change',
      isShort: ({ body }) => hasAtMost(FEW_CHANGES, body),
      isUrgent: ({ body }) => switchesOff(body),
    },
    changes: 'flag',
    async handle({ body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'applyChanges' });
      const changes = await checkChanges(permissions, changesIn(body));
      const { id: given, reason = request.context.reason, ifRevision } = unchecked<ApplyOptions>(Object(body));
      const id = idOf(given, request.context.id);
      const { bypassApproval } = request.context;
      const options = withoutUndefined({ id, reason, ifRevision, bypassApproval });
      const applied = await permissions.flags.apply(changes, options);
      // A repeated id returns the first result, even for another request.
      if (id !== undefined) await checkCommitted(permissions, applied);
      return replyToSet(applied);
    },
  }),
  route('POST', `${CHANGES}/plan`, 'planChanges', {
    permissionIn: 'handler',
    summary: 'Plan changes: return the documents before and after, and the events, without a commit',
    body: { schema: BODIES.plan, checkedBy: 'core' },
    reply: planSchema,
    errors: CHANGE_ERRORS,
    // Plans do not wait for each other: eight simultaneous plans would hold eight copies of the same documents.
    long: { kind: 'plan', isShort: ({ body }) => hasAtMost(1, body) },
    async handle({ body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'previewChanges', isDryRun: true });
      const changes = await checkChanges(permissions, changesIn(body));
      return visiblePlan(await permissions.flags.plan(changes), request.principal);
    },
  }),
  route('POST', `${CHANGES}/preview`, 'previewChanges', {
    permissionIn: 'handler',
    summary: 'Preview changes: evaluate up to 1,000 contexts before and after them, without a commit',
    body: { schema: BODIES.preview, checkedBy: 'core' },
    reply: previewSchema,
    errors: CHANGE_ERRORS,
    long: { kind: 'plan' },
    async handle({ body, ...request }) {
      const permissions = createChangePermissions(request, { action: 'previewChanges', isDryRun: true });
      const changes = await checkChanges(permissions, changesIn(body));
      const { environment, contexts } = validatePreview(body);
      const query = {
        environment,
        contexts: contexts.map((context) => contextFromWire(context)),
        signal: request.sent.signal,
      };
      return visiblePreview(await permissions.flags.preview(changes, query), request.principal);
    },
  }),
];

/** Returns the flags of projects that the caller may see. */
export async function visiblePreview(
  preview: ChangePreview,
  principal: RouteRequest['principal'],
): Promise<RouteResult> {
  const maySee = createProjectFilter(principal, 'previewChanges');
  const visible: ChangePreview['flags'][number][] = [];
  for (const flag of preview.flags) if (await maySee(flag.project)) visible.push(flag);
  return { body: previewToWire({ flags: visible }) };
}

/**
 * Returns the documents and effects of projects that the caller may see, and the number of hidden effects. Projects
 * include their members.
 */
export async function visiblePlan(
  { documents, effects, approval }: ChangePlan,
  principal: RouteRequest['principal'],
): Promise<RouteResult> {
  const created = [...projectsCreatedBy(documents)];
  const maySee = createProjectFilter(principal, 'previewChanges', created);
  const maySeeMembers = createProjectFilter(principal, 'listMembers', created);
  const visible: PlannedDocument[] = [];
  for (const document of documents) {
    const isVisible = await maySeeAll(projectsOfDocument(document), maySee);
    if (isVisible && (!holdsMembers(document) || (await maySeeMembers(document.id)))) visible.push(document);
  }
  return { body: planToWire({ documents: visible, ...(await visibleEffects(effects, maySee)), approval }) };
}

/** Checks each project once, because there may be many effects. */
export async function visibleEffects(effects: readonly FlagEffect[], maySee: ProjectFilter): Promise<VisibleEffects> {
  const projects = new Set<string>();
  for (const project of new Set(effects.map((effect) => effect.project))) {
    if (await maySee(project)) projects.add(project);
  }
  const visible = effects.filter(({ project }) => projects.has(project));
  return { effects: visible, hiddenEffects: effects.length - visible.length };
}

/** Returns the changes in a body, not validated. The engine refuses values that are not a list. */
export function changesIn(body: unknown): unknown {
  return (Object(body) as { readonly changes?: unknown }).changes;
}

/** Returns the id of a set or a request: of the body, or of the header. */
export function idOf(inBody: string | undefined, inHeader: string | undefined): string | undefined {
  const isContradiction = inHeader !== undefined && inBody !== undefined && `${inBody}`.toLowerCase() !== inHeader;
  if (isContradiction) throw invalidInput([{ message: `must be the same as ${ID_HEADER}`, path: '/id' }]);
  return inBody === undefined ? inHeader : inBody;
}

/** A change set with more changes is long. */
export const FEW_CHANGES = 10;

export function hasAtMost(count: number, body: unknown): boolean {
  const changes = changesIn(body);
  return !Array.isArray(changes) || changes.length <= count;
}

/** Switching flags off never waits. */
function switchesOff(body: unknown): boolean {
  const changes = changesIn(body);
  return Array.isArray(changes) && changes.every((change) => Object(change).op === 'disable');
}

export function withoutUndefined<T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

/** The state of a project has its members. */
function holdsMembers({ kind, before, after }: PlannedDocument): boolean {
  return kind === 'project' && [before, after].some(hasMembers);
}

/** The reply to a set that changed a single flag has the `ETag` of the flag. */
export function replyToSet(changeSet: ChangeSet): RouteResult {
  return { body: changeSetToWire(changeSet), ...flagOf(changeSet) };
}

function flagOf({ events, revisions }: ChangeSet): { readonly flag?: string; readonly revision?: number } {
  const [written, ...others] = Object.entries(revisions);
  const last = events.at(-1);
  if (!written || others.length > 0 || !last || last.flag === null || last.type === 'flag-deleted') return {};
  return { flag: last.flag, revision: written[1] };
}
