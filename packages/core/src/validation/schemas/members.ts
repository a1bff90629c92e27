import type { Member } from '../../api/members.js';
import type { ObjectSchema } from '../json-schema.js';
import { positiveInteger } from './names.js';

export const member: ObjectSchema<Member> = {
  type: 'object',
  properties: { userId: positiveInteger, roleId: positiveInteger },
  required: ['userId', 'roleId'],
};
