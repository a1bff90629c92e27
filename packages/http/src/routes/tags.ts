import type { Flag, FlagOverview, LabelChanges } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { versionTag } from '../caching.js';
import { jsonArray, jsonObject } from '../json-chunks.js';
import { propertyOf } from '../query.js';
import { type Route, route } from '../route.js';
import { SIMPLE } from '../wire/tags.js';
import { listerFor } from './features.js';
import { FEATURE, flagInProject, projectOfFlag } from './paths.js';

interface Tag {
  readonly type: typeof SIMPLE;
  readonly value: string;
}

function toTag(value: string): Tag {
  return { type: SIMPLE, value };
}

function tagListToWire({ labels }: Pick<Flag, 'labels'>) {
  return { version: 1, tags: labels.map(toTag) };
}

/** The schema of a tag in a request. The type may be absent. */
function tagSchema({ labelChanges }: InputSchemas): JsonSchema {
  const { items: value } = propertyOf(labelChanges, 'add');
  return { type: 'object', properties: { type: { type: 'string', enum: [SIMPLE] }, value }, required: ['value'] };
}

function tagChangesSchema(inputs: InputSchemas): JsonSchema {
  const { maxItems } = propertyOf(inputs.labelChanges, 'add');
  const tags = { type: 'array', maxItems, items: tagSchema(inputs) };
  return {
    type: 'object',
    properties: { addedTags: tags, removedTags: tags },
    required: ['addedTags', 'removedTags'],
  };
}

interface TagChanges {
  readonly addedTags: readonly Tag[];
  readonly removedTags: readonly Tag[];
}

function labelsOf(tags: readonly Tag[]): readonly string[] {
  return tags.map(({ value }) => value);
}

/** Nothing has a tag of another type, so there is nothing to remove. */
function tagRemoval({ type, value }: Readonly<Record<'type' | 'value', string>>): LabelChanges {
  return type === SIMPLE ? { remove: [value] } : {};
}

const TAGS = `${FEATURE}/tags`;

/** Generates the labels of flags, each once. There may be many, so that nothing sorts them. */
function* labelsOfAll(flags: readonly FlagOverview[]): Generator<string> {
  const seen = new Set<string>();
  for (const { labels } of flags) {
    for (const label of labels) {
      if (!seen.has(label)) yield label;
      seen.add(label);
    }
  }
}

export const tagRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/admin/tags',
    action: 'listTags',
    permission: 'listFlags',
    permissionBy: 'handler',
    summary: 'The labels of all flags that the caller may read, as tags, in the order of the flags',
    tag: 'Tags',
    access: 'admin',
    reply: { status: 200, schema: 'TagList' },
    errors: [],
    async handle({ flags, principal }) {
      const { items } = await listerFor(principal, flags)();
      const etag = versionTag(items.map(({ name, revision }) => `${name} ${revision}`));
      return { chunks: jsonObject({ version: 1, tags: jsonArray(labelsOfAll(items), toTag) }), etag };
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/tag-types',
    action: 'listTagTypes',
    permission: 'listFlags',
    permissionBy: 'anyProject',
    summary: 'The types of tags; there is one',
    tag: 'Tags',
    access: 'admin',
    reply: { status: 200, schema: 'TagTypeList' },
    errors: [],
    handle: async () => ({
      body: { version: 1, tagTypes: [{ name: SIMPLE, description: 'A label of a flag', icon: '#' }] },
    }),
  }),
  route({
    method: 'GET',
    path: TAGS,
    action: 'listFlagTags',
    permission: 'getFlag',
    summary: 'The labels of a flag, as tags',
    tag: 'Tags',
    access: 'admin',
    reply: { status: 200, schema: 'TagList' },
    errors: ['flag_not_found'],
    projectOf: projectOfFlag,
    async handle({ flags, params, project }) {
      const flag = await flags.getFlag(flagInProject(params, project));
      return { body: tagListToWire(flag), revision: flag.revision };
    },
  }),
  route({
    method: 'POST',
    path: TAGS,
    action: 'addFlagTag',
    permission: 'updateFlag',
    summary: 'Add a label to a flag, as a tag; one that it has stays',
    tag: 'Tags',
    access: 'admin',
    changes: 'flag',
    body: { required: true, schema: tagSchema, checkedBy: 'router' },
    reply: { status: 201, schema: 'Tag' },
    errors: ['invalid_input', 'flag_not_found', 'flag_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    projectOf: projectOfFlag,
    async handle({ flags, params, project, body, context }) {
      const { value } = unchecked<Tag>(body);
      await flags.changeLabels(flagInProject(params, project), { add: [value] }, context);
      return { body: toTag(value) };
    },
  }),
  route({
    method: 'PUT',
    path: TAGS,
    action: 'updateFlagTags',
    permission: 'updateFlag',
    summary: 'Add labels to a flag and remove others, as tags, in one change',
    tag: 'Tags',
    access: 'admin',
    changes: 'flag',
    body: { required: true, schema: tagChangesSchema, checkedBy: 'router' },
    reply: { status: 200, schema: 'TagList' },
    errors: ['invalid_input', 'flag_not_found', 'flag_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    projectOf: projectOfFlag,
    async handle({ flags, params, project, body, context }) {
      const { addedTags, removedTags } = unchecked<TagChanges>(body);
      const changes = { add: labelsOf(addedTags), remove: labelsOf(removedTags) };
      const flag = await flags.changeLabels(flagInProject(params, project), changes, context);
      return { body: tagListToWire(flag) };
    },
  }),
  route({
    method: 'DELETE',
    path: `${TAGS}/:type/:value`,
    action: 'removeFlagTag',
    permission: 'updateFlag',
    summary: 'Remove a label from a flag, as a tag; does nothing if the flag has no such tag',
    tag: 'Tags',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ['invalid_input', 'flag_not_found', 'flag_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    projectOf: projectOfFlag,
    async handle({ flags, params, project, context }) {
      await flags.changeLabels(flagInProject(params, project), tagRemoval(params), context);
      return {};
    },
  }),
];
