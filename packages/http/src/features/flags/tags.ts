import type { Flag, FlagOverview } from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { LabelChanges } from '@flags/core/types';
import { FEATURE, projectOfFlag } from '../../api/paths.js';
import { LONG_READ } from '../../api/query.js';
import { route, withRevision } from '../../api/route.js';
import { SIMPLE } from '../../client/client-document.js';
import { jsonArray } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import { example, listOf, objectComponent, propertyOf, version } from '../../messages/schema.js';
import { listFlagsForCaller } from './search.js';

const tagSchema = objectComponent('Tag', { type: { type: 'string', const: 'simple' }, value: example('team-shop') });

const tagListSchema = objectComponent('TagList', { version, tags: listOf(tagSchema) });

const tagTypeSchema = objectComponent('TagType', {
  name: example('simple'),
  description: example('A label of a flag'),
  icon: example('#'),
});

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
function tagInput({ labelChanges }: InputSchemas): JsonSchema {
  const { items: value } = propertyOf(labelChanges, 'add');
  return { type: 'object', properties: { type: { type: 'string', enum: [SIMPLE] }, value }, required: ['value'] };
}

function tagChangesInput(inputs: InputSchemas): JsonSchema {
  const { maxItems } = propertyOf(inputs.labelChanges, 'add');
  const tags = { type: 'array', maxItems, items: tagInput(inputs) };
  return {
    type: 'object',
    properties: { addedTags: tags, removedTags: tags },
    required: ['addedTags', 'removedTags'],
  };
}

function labelsOf(tags: readonly Tag[]): readonly string[] {
  return tags.map(({ value }) => value);
}

/** Tags have one type. Removing a tag of another type changes nothing, and is not refused. */
function tagRemoval({ type, value }: Readonly<Record<'type' | 'value', string>>): LabelChanges {
  return type === SIMPLE ? { remove: [value] } : {};
}

const TAGS = `${FEATURE}/tags`;

/** Generates the distinct labels of flags. They are not sorted, because there may be many. */
function* labelsOfAll(flags: readonly FlagOverview[]): Generator<string> {
  const seen = new Set<string>();
  for (const { labels } of flags) {
    for (const label of labels) {
      if (!seen.has(label)) yield label;
      seen.add(label);
    }
  }
}

export const tagRoutes = [
  route('GET', '/api/admin/tags', 'listTags', {
    permissionIn: 'handler',
    summary: 'List the tags of all flags that the caller may read, ordered by flag',
    long: LONG_READ,
    reply: tagListSchema,
    async handle(request) {
      const { items } = await listFlagsForCaller(request, {});
      return { body: { version: 1, tags: jsonArray(labelsOfAll(items), toTag) } };
    },
  }),
  route('GET', '/api/admin/tag-types', 'listTagTypes', {
    permissionIn: 'anyProject',
    summary: 'List the tag types; `simple` is the only one',
    reply: objectComponent('TagTypeList', { version, tagTypes: listOf(tagTypeSchema) }),
    handle: async () => ({
      body: { version: 1, tagTypes: [{ name: SIMPLE, description: 'A label of a flag', icon: '#' }] },
    }),
  }),
  route('GET', TAGS, 'listFlagTags', {
    summary: 'List the tags of a flag',
    reply: tagListSchema,
    permissionIn: projectOfFlag,
    handle: async ({ flags, ref }) => withRevision(await flags.getFlag(ref), tagListToWire),
  }),
  route('POST', TAGS, 'addFlagTag', {
    summary: 'Add a tag to a flag; does nothing if the flag has it',
    changes: 'flag',
    body: { schema: tagInput },
    status: 201,
    reply: tagSchema,
    permissionIn: projectOfFlag,
    async handle({ flags, ref, body, context }) {
      const { value } = unchecked<Tag>(body);
      const { revision } = await flags.changeLabels(ref, { add: [value] }, context);
      return { body: toTag(value), revision };
    },
  }),
  route('PUT', TAGS, 'updateFlagTags', {
    summary: 'Add tags to a flag and remove others in one change',
    changes: 'flag',
    body: { schema: tagChangesInput },
    reply: tagListSchema,
    permissionIn: projectOfFlag,
    async handle({ flags, ref, body, context }) {
      const { addedTags, removedTags } = unchecked<Record<'addedTags' | 'removedTags', readonly Tag[]>>(body);
      const changes = { add: labelsOf(addedTags), remove: labelsOf(removedTags) };
      const flag = await flags.changeLabels(ref, changes, context);
      return withRevision(flag, tagListToWire);
    },
  }),
  route('DELETE', `${TAGS}/:type/:value`, 'removeFlagTag', {
    summary: 'Remove a tag from a flag; does nothing if the flag does not have it',
    changes: 'flag',
    permissionIn: projectOfFlag,
    async handle({ flags, ref, params, context }) {
      const { revision } = await flags.changeLabels(ref, tagRemoval(params), context);
      return { revision };
    },
  }),
];
