import { createValidator, type JsonSchema } from '@flags/core/integration';
import { contextSchema, type WireContext } from '../wire/evaluation-context.js';
import { CHANGE_OPERATIONS } from './permissions.js';

/** The body that previews changes. */
export interface WirePreview {
  readonly environment: string;
  readonly contexts: readonly WireContext[];
}

const text: JsonSchema = { type: 'string' };

/** Documents a change. The engine validates it, because a reference and an input differ with the operation. */
const change: JsonSchema = {
  type: 'object',
  properties: {
    op: { type: 'string', enum: CHANGE_OPERATIONS },
    ref: {
      type: 'object',
      properties: { project: text, flag: text, environment: text, strategy: text, segment: { type: 'integer' } },
      description: 'What the change is about. Absent for createProject and createSegment.',
    },
    input: { description: 'As the operation of that name takes it; absent where it takes none.' },
    ifRevision: {
      anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }],
      description: 'The revision of the flag, project or segment, or several acceptable ones.',
    },
  },
  required: ['op'],
};

const changes: JsonSchema = { type: 'array', items: change, description: 'At most 500, in order.' };

const reason: JsonSchema = { type: 'string', maxLength: 1000, description: 'Shown in the history.' };

/** The schemas of bodies, for documents. */
export const BODIES = {
  apply: {
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'A repeated id returns the first result.' },
      reason,
      ifRevision: {
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'Revisions by `kind/id`: documents that must not have moved, changed or not.',
      },
      changes,
    },
    required: ['changes'],
  },
  plan: { type: 'object', properties: { changes }, required: ['changes'] },
  preview: {
    type: 'object',
    properties: {
      changes,
      environment: text,
      contexts: { type: 'array', maxItems: 1000, items: contextSchema },
    },
    required: ['changes', 'environment', 'contexts'],
  },
  undo: { type: 'object', properties: { reason } },
} satisfies Readonly<Record<string, JsonSchema>>;

/** Validates the contexts, which have a wire form. The engine validates everything else. */
export const validatePreview = createValidator<WirePreview>({
  ...BODIES.preview,
  properties: { ...BODIES.preview.properties, changes: {} },
});
