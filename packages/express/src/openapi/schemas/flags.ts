import type { JsonSchema } from '@flags/core';
import { boolean, listOf, optionalTimestamp, referTo, text, timestamp, version } from './common.js';
import { strictObject } from './strict-object.js';

const flag = {
  name: text,
  project: { type: 'string', description: 'The id of the owning project.' },
  description: { type: ['string', 'null'] },
  type: text,
  stale: boolean,
  impressionData: boolean,
  archived: boolean,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  variants: { anyOf: [listOf(referTo('Variant')), { type: 'null' }], description: 'null when the flag has none.' },
} satisfies Readonly<Record<string, JsonSchema>>;

const summary = {
  name: text,
  type: text,
  stale: boolean,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  environments: listOf(referTo('EnvironmentSummary')),
};

export const flagSchemas = {
  Flag: strictObject(flag),

  FlagDetail: strictObject(
    { ...flag, environments: listOf(referTo('FlagEnvironment')) },
    {
      dependencies: { ...listOf(referTo('Dependency')), description: 'Absent when the flag has none.' },
      children: {
        ...listOf(text),
        description: 'The flags, not archived, that depend on this one; absent when there are none.',
      },
    },
  ),

  FlagEnvironment: strictObject({
    name: text,
    enabled: boolean,
    strategies: listOf(referTo('Strategy')),
  }),

  FlagSummary: strictObject(summary),

  EnvironmentSummary: strictObject({ name: text, displayName: text, enabled: boolean }),

  FlagList: strictObject({ version, features: listOf(referTo('FlagSummary')) }),

  ArchivedFlag: strictObject({
    ...summary,
    project: text,
    archived: { type: 'boolean', const: true },
    archivedAt: { ...optionalTimestamp, description: 'null for a flag that release 0.1 has archived.' },
    description: flag.description,
    impressionData: boolean,
  }),

  ArchivedFlagList: strictObject({ version, features: listOf(referTo('ArchivedFlag')) }),
};
