/** How much of anything the engine takes; texts in characters. */
export const LIMITS = {
  /** Of flags, projects, environments, variants. */
  name: 100,
  /** A display name, a context field, a stickiness, the name of a strategy, segment or token. */
  label: 100,
  /** Of a project, and what an application tells of itself. */
  shortDescription: 1000,
  /** Of a flag or segment: with its document around it, at most {@link documentBytes} in ASCII. */
  description: 1_000_000,
  title: 1000,
  /** Of a token. */
  secret: 255,
  /** The shortest secret that a new token may be given. */
  shortestSecret: 32,
  projectsPerToken: 100,
  strategiesPerEnvironment: 100,
  parameters: 100,
  parameterText: 1_000_000,
  constraints: 1000,
  values: 50_000,
  valueText: 10_000,
  segmentsPerStrategy: 1000,
  variants: 1000,
  overrides: 1000,
  payloadText: 262_144,
  dependencies: 100,
  /** A stored document, in bytes of its JSON in UTF-8. */
  documentBytes: 1_048_576,
  patchOperations: 1000,
  /** In characters of JSON: `copy` can double a document with every operation. */
  patchCopies: 500_000,
  pattern: 1000,
  /** In instructions; a pattern of this weight takes some ten milliseconds to compile. */
  patternWeight: 1000,
  /** A longer value of a context counts as absent. */
  contextValue: 4096,
  /** A longer text matches no pattern: matching takes a time per character, of some ten nanoseconds per instruction. */
  patternText: 500,
  /** A longer text is no number, no version and no date. */
  operandText: 256,
  /**
   * What the strategies of one flag may cost in one environment, with their segments: about microseconds, for the context that
   * takes longest. Also of one segment alone. One pattern of the largest weight fits. See `evaluation/constraints/cost.ts`.
   */
  flagCost: 21_000,
  /** The parents of one flag together. */
  parentsCost: 40_000,
  /** Of an application, an instance and its SDK; of a flag in a report. */
  reportedName: 255,
  strategiesPerRegistration: 1000,
  /** Bytes of JSON: one registration. */
  registrationSize: 65_536,
  /** Bytes of JSON: all registrations of one batch. */
  registrationsSizePerBatch: 1_048_576,
  flagsPerReport: 10_000,
  applicationsPerBatch: 1000,
  metricsPerBatch: 10_000,
  /** Of metrics: an application beyond these is not stored. */
  applications: 10_000,
  /** Of metrics: beyond these the least recently seen instance is dropped. */
  instancesPerApplication: 1000,
  /** Names that are no flag's: beyond these the least recently reported name is dropped. */
  unknownNamesPerApplication: 100,
  /** The same, of one call that reports for many applications. */
  unknownNamesPerBatch: 1000,
  /** The same, over all applications. */
  unknownNames: 10_000,
  /** Estimated bytes: all applications, instances and usage that metrics in memory hold. */
  applicationsInMemory: 33_554_432,
  eventsPerPage: 1000,
  itemsPerPage: 1000,
  /** Bytes of JSON: a page ends before it has more, but has one item at least. */
  pageSize: 1_048_576,
  /** Of one error: nobody looks for more. */
  issues: 100,
  /** The message of an error or an issue, which may echo input. */
  issueMessage: 1000,
  /** The JSON Pointer of an issue, whose tokens may be names from the input. */
  issuePath: 200,
} as const;
