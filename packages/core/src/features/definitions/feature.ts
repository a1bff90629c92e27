import { definitionOperations } from './definitions.operations.js';

export const definitionsFeature = { name: 'definitions', operations: definitionOperations } as const;
