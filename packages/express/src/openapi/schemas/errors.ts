import { ERROR_KINDS } from '../../errors/error-kinds.js';
import { listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

const kinds = Object.entries(ERROR_KINDS);

export const errorSchemas = {
  Error: strictObject({
    name: { type: 'string', enum: [...new Set(kinds.map(([, { name }]) => name))].sort() },
    code: {
      type: 'string',
      enum: kinds.map(([code]) => code).sort(),
      description: 'Stable: code against it, not against messages.',
    },
    message: { type: 'string', description: 'One sentence that says what to do.' },
    details: listOf(referTo('ErrorDetail')),
  }),

  ErrorDetail: strictObject(
    { message: text },
    { path: { type: 'string', description: 'A JSON Pointer into what was sent.' } },
  ),

  MemberErrors: {
    ...listOf(strictObject({ msg: text })),
    minItems: 1,
  },
};
