import type { ConstraintDefinition } from '../../api/definitions.js';

/** Decides on the text of a context field, undefined when the context has none. */
export type ValueTest = (value: string | undefined) => boolean;

/** Reads a constraint's operand once; undefined when it is unusable: no number, no version, no pattern. */
export type ValueTestFactory = (constraint: ConstraintDefinition) => ValueTest | undefined;
