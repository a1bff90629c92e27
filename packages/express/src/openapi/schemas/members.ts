import { listOf, positiveInteger, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

export const memberSchemas = {
  MemberList: strictObject({ roles: listOf(referTo('Role')), users: listOf(referTo('Member')) }),

  Role: strictObject({ id: positiveInteger, name: text }),

  Member: strictObject({ id: positiveInteger, roleId: positiveInteger }),
};
