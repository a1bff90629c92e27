import type { ErrorCode } from '@flags/core';
import { unchecked } from '../body.js';
import { type Route, route } from '../route.js';
import { variantWeightsToWire } from '../wire/flag.js';
import { flagRef, VARIANTS } from './paths.js';

const ERRORS: readonly ErrorCode[] = [
  'invalid_input',
  'project_not_found',
  'flag_not_found',
  'flag_archived',
  'revision_mismatch',
];

export const variantRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: VARIANTS,
    action: 'setVariants',
    summary: 'Replace the variants of a flag, in all environments at once',
    tag: 'Variants',
    access: 'admin',
    body: { required: true, schema: ({ variants }) => variants, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'VariantWeights' },
    errors: ERRORS,
    ifMatch: 'flag',
    handle: async ({ flags, params, body, context }) => ({
      body: variantWeightsToWire(await flags.setVariants(flagRef(params), unchecked(body), context)),
    }),
  }),
  route({
    method: 'PATCH',
    path: VARIANTS,
    action: 'patchVariants',
    summary: 'Change the variants of a flag by a JSON Patch (RFC 6902), in all environments at once',
    tag: 'Variants',
    access: 'admin',
    body: { required: true, schema: ({ jsonPatch }) => jsonPatch, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'VariantWeights' },
    errors: [...ERRORS, 'invalid_patch', 'patch_test_failed'],
    ifMatch: 'flag',
    deprecated: true,
    handle: async ({ flags, params, body, context }) => ({
      body: variantWeightsToWire(await flags.patchVariants(flagRef(params), unchecked(body), context)),
    }),
  }),
];
