import { ERROR_LIMITS } from './errors.js';

/*
 * The docstrings are the meanings in docs/reference/limits.md: `npm run reference:write`. The first paragraph begins
 * with the unit, and ends in what happens beyond the limit unless the code is `invalid_input`. Further paragraphs are
 * printed below the table.
 */
const NUMBERS = {
  /** Characters of the name of a flag, project, environment or variant. */
  name: 100,
  /** Characters of a display name, a context field, a stickiness, or the name of a strategy, segment or token. */
  label: 100,
  /** Characters of the description of a project, and of the details of reporting applications. */
  shortDescription: 1000,
  /** Characters of the description of a flag or segment. */
  description: 10_000,
  /** Labels of a flag. */
  labelsPerFlag: 20,
  /** Characters of a label of a flag. */
  flagLabel: 50,
  /** Characters of the owner of a flag. */
  owner: 200,
  /** Characters of the text that a list of flags is searched for. */
  searchText: 500,
  /** Projects of a search. */
  projectsPerQuery: 100,
  /** Characters of the title of a strategy. */
  title: 200,
  /** Characters of a token's secret that your configuration gives. */
  secret: 255,
  /** Characters that such a secret needs. Beyond it: `invalid_input` for a shorter one. */
  shortestSecret: 32,
  /** Projects of an API token. */
  projectsPerToken: 100,
  /** Secrets in one call of `verifyTokens` or `/edge/validate`. */
  tokensPerVerification: 100,
  /** Milliseconds that a rotated token stays valid. */
  tokenOverlap: 7_776_000_000,
  /** Strategies of a flag in one environment. */
  strategiesPerEnvironment: 100,
  /** Parameters of a strategy. */
  parameters: 100,
  /** Characters of a parameter. */
  parameterText: 500_000,
  /** Constraints of a strategy or segment. */
  constraints: 100,
  /** Values of a constraint or override. */
  values: 50_000,
  /** Characters of such a value. */
  valueText: 10_000,
  /** Segments of a strategy. */
  segmentsPerStrategy: 100,
  /**
   * The highest id of a new segment. Beyond it: an imported segment gets another id, and strategies that name it
   * follow. Stored segments may have higher ones.
   */
  segmentId: 2_147_483_647,
  /** Variants of a flag or strategy. */
  variants: 100,
  /** Overrides of a variant. */
  overrides: 100,
  /** Characters of a payload. */
  payloadText: 262_144,
  /** Flags that a flag depends on. */
  dependencies: 100,
  /** Bytes of the JSON of a stored flag, segment or project, in UTF-8. Beyond it: `document_too_large`. */
  documentBytes: 1_048_576,
  /** Changes of a change set. Beyond it: `change_set_too_large`. */
  changesPerSet: 500,
  /** Projects, segments and flags that one import changes. Beyond it: `change_set_too_large`. */
  documentsPerImport: 1000,
  /**
   * Bytes of the JSON of all documents and events of a change set, or of commits that share a transaction. Beyond it:
   * `change_set_too_large`.
   */
  changeSetBytes: 8_388_608,
  /** Characters of the reason of a change set. */
  reason: 1000,
  /**
   * `REGEX` constraints of a flag in all environments, with those of its segments; and of a segment. Beyond it:
   * `invalid_input`; a stored strategy from the first pattern beyond it on does not match (`too_costly`).
   */
  patternsPerFlag: 20,
  /**
   * Characters of a `REGEX`, and its parts with repetitions written out. Beyond it: `invalid_input`; a stored
   * constraint is skipped.
   *
   * With its repetitions written out, a pattern counts one for each character, escape, class and group. Each Unicode
   * class such as `\p{L}`, and a range of many letters in brackets, counts 10 or 20 more: `^[a-z]{1,50}@example\.org$`
   * counts 64. So 20 patterns are matched within some ten milliseconds.
   */
  pattern: 250,
  /**
   * Repetitions of a part of a `REGEX`. Nested repetitions multiply: `(a{10}){5}` has 50. Beyond it: `invalid_input`; a
   * stored constraint is skipped.
   */
  patternRepetitions: 50,
  /** Bytes of a body with a context: frontend API, OFREP, playground. Beyond it: `payload_too_large`. */
  contextBytes: 65_536,
  /** Properties of a context that is sent over HTTP. */
  contextProperties: 1000,
  /** Characters of a context value. Beyond it: the value counts as absent (`context_value_too_long`). */
  contextValue: 4096,
  /** Characters of a context value for a `REGEX`. Beyond it: the value does not match. */
  patternText: 500,
  /** Characters of a number, version or date. Beyond it: the text counts as none of these. */
  operandText: 256,
  /**
   * Weight of what one evaluation tests: of a flag in one environment with its segments, of a segment, and of all
   * parents of a flag. Beyond it: `invalid_input`; parents beyond it do not match (`too_costly`).
   *
   * The weight bounds the time of one evaluation: 1 is about a microsecond. A strategy weighs 40, or nothing while it
   * is disabled. Each of its constraints, and of those of its segments, adds:
   *
   * - `STR_CONTAINS`: 50 for each value of fewer than 100, and for each of more than 64 characters. From 100 short
   *   values on, all short ones together 6,300, and 14,400 for 50,000.
   * - `STR_STARTS_WITH` and `STR_ENDS_WITH`: 0.05 for each value, and 0.0035 for each of its characters.
   * - `IN_CIDR`: 0.03 for each network.
   * - `REGEX`: 1,000.
   * - Any other operator: 1, however many values `IN` has. Ignoring case adds 50.
   *
   * A refusal has the path of the first constraint or segment beyond the weight. A change may keep the weight that an
   * environment has.
   */
  flagWeight: 50_000,
  /** Characters of the name of an application, an instance, an SDK or a reported flag. */
  reportedName: 255,
  /** Strategies of a registration. */
  strategiesPerRegistration: 1000,
  /** Bytes of the JSON of a registration. */
  registrationSize: 65_536,
  /** Bytes of the JSON of all registrations in a proxy's batch. */
  registrationsSizePerBatch: 1_048_576,
  /** Flags in a metrics report. */
  flagsPerReport: 10_000,
  /** Variants of a flag in a report. */
  variantsPerReportedFlag: 2000,
  /** Characters of the id of a proxy's batch. */
  batchId: 200,
  /** Applications in a proxy's batch. */
  applicationsPerBatch: 1000,
  /** Metrics in a proxy's batch. */
  metricsPerBatch: 10_000,
  /** Applications. Beyond it: further ones are not stored (`dropped.reports`), but their counts of flags are. */
  applications: 10_000,
  /** Applications that one API token reported first. Beyond it: further ones are not stored. */
  applicationsPerToken: 1000,
  /**
   * Applications that one frontend token, which anybody can read in a page, reported first, or all reports without a
   * token. Beyond it: further ones are not stored.
   */
  applicationsPerFrontendToken: 100,
  /** Instances of an application. Beyond it: the least recently seen one is dropped. */
  instancesPerApplication: 1000,
  /**
   * Names that an application reports and no flag has. Beyond it: the least recently reported one is dropped
   * (`dropped.names`).
   */
  unknownNamesPerApplication: 100,
  /** Such names in a proxy's batch. Beyond it: further ones are dropped (`dropped.names`). */
  unknownNamesPerBatch: 1000,
  /** Such names of all applications. Beyond it: the least recently reported one is dropped (`dropped.names`). */
  unknownNames: 10_000,
  /** Hours of usage, with the current one. Beyond it: older ones are deleted. */
  usageHours: 168,
  /** Days of usage, with the current one. Beyond it: older ones are deleted. */
  usageDays: 30,
  /**
   * Stored rows of hours, each for a flag, application, environment and variant. Beyond it: rows that only frontend
   * tokens reported are dropped first, then the oldest of the largest application (`dropped.usage`).
   */
  usageHourRows: 700_000,
  /** Stored rows of days. Beyond it: as for those of hours. */
  usageDayRows: 300_000,
  /** Pairs of a flag and an application that has evaluated it. Beyond it: as for rows of hours. */
  usagePairs: 300_000,
  /**
   * Counts in the memory storage: half for minutes, 15 % for hours, 10 % for days, and a quarter for pairs of a flag
   * and an application. Beyond it: as for rows of hours.
   */
  usageRowsInMemory: 44_000,
  /** Consumers of events. Processes that create several at the same moment may exceed it. */
  consumers: 100,
  /** Events that the lag of a consumer counts. Beyond it: further ones are not counted. */
  consumerLag: 1000,
  /** Milliseconds of the lease of a consumer, after which another node takes over; at least 1,000. */
  consumerLease: 86_400_000,
  /** Characters of the message of a consumer's last error. Beyond it: the message is shortened. */
  consumerError: 1000,
  /** Change requests that wait. Processes that make several at the same moment may exceed it, and the next two. */
  waitingRequests: 1000,
  /** Change requests of one person that wait, with those of the tokens of that person. */
  waitingRequestsPerPerson: 100,
  /** Bytes of the JSON of the changes of all change requests that wait. Those of one fit a document. */
  waitingRequestBytes: 67_108_864,
  /** Milliseconds from now to the time of a change request, `at`. */
  requestAhead: 31_536_000_000,
  /** Milliseconds between the times of a change request, `at` and `notAfter`. */
  requestWindow: 86_400_000,
  /** Milliseconds from now until a change request without a time expires, `expiresAt`. Without it: 14 days. */
  requestLifetime: 7_776_000_000,
  /** Milliseconds that a change request is kept after its end. Beyond it: it is deleted; its events remain. */
  requestRetention: 7_776_000_000,
  /** Strategies that roll out. Each process counts in memory, so several may exceed it together. */
  activeRollouts: 1000,
  /** Steps of a rollout. */
  rolloutSteps: 20,
  /** Milliseconds that one step of a rollout stays. */
  rolloutHold: 31_536_000_000,
  /** Environments that the approval policy names. */
  protectedEnvironments: 100,
  /** People who must approve a change of one environment. */
  requiredApprovals: 10,
  /** Contexts of a preview. */
  previewContexts: 1000,
  /** Results of a preview: for each context, one per flag, or per strategy with a bucket. */
  previewResults: 200_000,
  /** Events of a page. */
  eventsPerPage: 1000,
  /** Items of a page of any other list. */
  itemsPerPage: 1000,
  /** Bytes of the JSON of a page. Beyond it: the page ends after at least one item, whatever its size. */
  pageSize: 1_048_576,
  ...ERROR_LIMITS,
};

/**
 * The limits of all inputs and of stored state. A call beyond one of them is refused with `invalid_input` or another
 * code, and changes nothing; or the rest is dropped, cut or ignored, and `flags.status().dropped` counts it. Texts are
 * in characters. A later release may change a number.
 *
 * The number of flags, projects, segments, members, tokens and open streams is not limited. Stored data beyond a limit
 * is loaded and evaluated, but for patterns and `flagWeight`. A change may keep or shorten a list or text that is too
 * long, and keep the patterns that the flag or segment has.
 */
export const LIMITS: Readonly<typeof NUMBERS> = NUMBERS;
