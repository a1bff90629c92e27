import { boolean, listOf, text } from './common.js';
import { strictObject } from './strict-object.js';

export const dependencySchemas = {
  Dependency: strictObject({
    feature: { type: 'string', description: 'The name of the parent.' },
    enabled: { ...boolean, description: 'Whether the parent has to be on, or off.' },
    variants: { ...listOf(text), description: 'One of these the parent has to have; any when empty.' },
  }),

  PossibleParents: listOf(text),
};
