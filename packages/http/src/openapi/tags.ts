/** The groups of operations in the OpenAPI document, with their descriptions. */
export const TAGS = {
  Projects: 'Every flag belongs to a project.',
  Members: 'The users of a project and their roles. The host application knows the users.',
  Flags: 'Flags with their description, type, labels and owner.',
  Tags: 'The labels of flags, in the form of Unleash.',
  Archive: 'Archived flags: revive or delete them.',
  Strategies: 'Who gets a flag in an environment.',
  Environments: 'Switch flags on and off, by environment.',
  Variants: 'The variants of a flag with their weights and payloads.',
  Dependencies: 'Flags that are on only while their parent is.',
  Segments: 'Named lists of constraints that strategies share.',
  Metrics: 'How often flags were evaluated, and by which applications.',
  Client: 'For SDKs in servers: definitions, registration and reports.',
  Frontend: 'For SDKs in browsers: the flags of one context.',
  OFREP: 'The remote evaluation protocol of OpenFeature.',
  Playground: 'Evaluates flags for a context, and explains the results.',
  'API tokens': 'The secrets that admit programs to this API.',
  Events: 'The log of all changes.',
  'Change sets': 'Several changes in one commit; history and undo.',
  'Flags as code': 'Export and import of all definitions as one document.',
  Session: 'What the caller may do.',
  OpenAPI: 'This document.',
} as const;

export type Tag = keyof typeof TAGS;
