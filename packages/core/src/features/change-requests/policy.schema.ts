import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, name, type ObjectSchema } from '../../base/primitives.js';
import type { ApprovalPolicy, EnvironmentApproval } from './policy.js';

const environmentApproval: ObjectSchema<EnvironmentApproval> = {
  type: 'object',
  properties: { required: { type: 'integer', minimum: 1, maximum: LIMITS.requiredApprovals } },
  required: ['required'],
};

const environments: JsonSchema = {
  type: 'object',
  maxProperties: LIMITS.protectedEnvironments,
  propertyNames: name,
  additionalProperties: environmentApproval,
};

export const approvalPolicy: ObjectSchema<ApprovalPolicy> = {
  type: 'object',
  properties: { environments },
  required: ['environments'],
};
