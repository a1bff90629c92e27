import { ERROR_LIMITS } from './errors.js';

const NUMBERS = {
  /** Names of flags, projects, environments and variants. */
  name: 100,
  /** Display names, context fields, stickiness, and names of strategies, segments and tokens. */
  label: 100,
  /** Descriptions of projects, and details of reporting applications. */
  shortDescription: 1000,
  /** Descriptions of flags and segments. */
  description: 10_000,
  labelsPerFlag: 20,
  /** A label of a flag. */
  flagLabel: 50,
  owner: 200,
  /** The text that a list of flags is searched for. */
  searchText: 500,
  projectsPerQuery: 100,
  title: 200,
  /** The longest token secret. */
  secret: 255,
  /** The shortest secret that a new token may have. */
  shortestSecret: 32,
  projectsPerToken: 100,
  tokensPerVerification: 100,
  /** Milliseconds that a rotated token stays valid: 90 days. */
  tokenOverlap: 7_776_000_000,
  strategiesPerEnvironment: 100,
  parameters: 100,
  parameterText: 500_000,
  constraints: 100,
  values: 50_000,
  valueText: 10_000,
  segmentsPerStrategy: 100,
  /** The highest id of a new segment. Stored segments may have higher ones. */
  segmentId: 2_147_483_647,
  variants: 100,
  overrides: 100,
  payloadText: 262_144,
  dependencies: 100,
  /** One stored document: bytes of its JSON in UTF-8. */
  documentBytes: 1_048_576,
  changesPerSet: 500,
  /** Projects, segments and flags that one import changes. */
  documentsPerImport: 1000,
  /** All documents and events of one change set, and of one group of commits: bytes of their JSON. */
  changeSetBytes: 8_388_608,
  /** The reason of a change set. */
  reason: 1000,
  /** Patterns of a flag, with those of its segments. */
  patternsPerFlag: 20,
  /** Characters of a pattern, and its parts with repetitions written out. */
  pattern: 250,
  /** Repetitions of a part of a pattern. Nested repetitions multiply. */
  patternRepetitions: 50,
  /** The JSON of a context that a client sends over HTTP, in bytes. */
  contextBytes: 65_536,
  /** The properties of such a context. */
  contextProperties: 1000,
  /** A longer context value counts as absent. */
  contextValue: 4096,
  /** A longer text matches no pattern: a match takes some ten nanoseconds per character and instruction. */
  patternText: 500,
  /** A longer text is not a number, version or date. */
  operandText: 256,
  /**
   * What one evaluation tests: the weights of a flag's strategies in one environment, with their segments; of one segment;
   * and of all parents of a flag. About a microsecond each. See `evaluation/weight.ts`.
   */
  flagWeight: 50_000,
  /** Names of applications, instances and SDKs, and of flags in reports. */
  reportedName: 255,
  strategiesPerRegistration: 1000,
  /** One registration: bytes of JSON. */
  registrationSize: 65_536,
  /** All registrations of one batch: bytes of JSON. */
  registrationsSizePerBatch: 1_048_576,
  flagsPerReport: 10_000,
  /** Names of variants that a report counts for one flag. */
  variantsPerReportedFlag: 2000,
  /** The id of a bulk report. */
  batchId: 200,
  applicationsPerBatch: 1000,
  metricsPerBatch: 10_000,
  /** Usage does not store further applications. */
  applications: 10_000,
  /** Applications that one API token has reported first. Usage does not store further ones. */
  applicationsPerToken: 1000,
  /** The same for a frontend token, which anybody can read in a page. */
  applicationsPerFrontendToken: 100,
  /** Usage drops the least recently seen instance beyond this number. */
  instancesPerApplication: 1000,
  /** Names of unknown flags. Usage drops the least recently reported name beyond this number. */
  unknownNamesPerApplication: 100,
  /** Names of unknown flags in one call that reports for many applications. */
  unknownNamesPerBatch: 1000,
  /** Names of unknown flags, for all applications. */
  unknownNames: 10_000,
  /** Hours that usage keeps, including the current one. */
  usageHours: 168,
  /** Days that usage keeps, including the current one. */
  usageDays: 30,
  /** Stored rows: one per hour, flag, application and environment, and one more per variant. */
  usageHourRows: 700_000,
  /** The same for days. */
  usageDayRows: 300_000,
  /** Flags that applications have evaluated: one row per flag and application. */
  usagePairs: 300_000,
  /** Counts in memory: minutes, hours, days, and pairs of a flag and an application, together. */
  usageRowsInMemory: 44_000,
  /** Consumers of events. */
  consumers: 100,
  /** Events that the lag of a consumer counts. */
  consumerLag: 1000,
  /** Milliseconds after which another node takes over: a day. */
  consumerLease: 86_400_000,
  /** The message of a consumer's last error. */
  consumerError: 1000,
  /** Change requests that wait. Nodes that make some at the same moment may exceed it, and the next two. */
  waitingRequests: 1000,
  /** Those of one person, with those of the tokens of that person. */
  waitingRequestsPerPerson: 100,
  /** All change requests that wait: bytes of the JSON of their changes. */
  waitingRequestBytes: 67_108_864,
  /** Milliseconds until the time of a change request: a year. */
  requestAhead: 31_536_000_000,
  /** Milliseconds between the times of a change request, `at` and `notAfter`: a day. */
  requestWindow: 86_400_000,
  /** Milliseconds until a change request without a time expires: 90 days. */
  requestLifetime: 7_776_000_000,
  /** Milliseconds that a change request exists after its end: 90 days. */
  requestRetention: 7_776_000_000,
  /** Strategies that roll out. Each process counts in memory, so several may exceed it together. */
  activeRollouts: 1000,
  /** Steps of a rollout. */
  rolloutSteps: 20,
  /** Milliseconds that one step of a rollout stays: a year. */
  rolloutHold: 31_536_000_000,
  /** Environments that the approval policy names. */
  protectedEnvironments: 100,
  /** People who must approve a change of one environment. */
  requiredApprovals: 10,
  previewContexts: 1000,
  /** Results of one preview: a flag for a context, or the bucket of a strategy for a context. */
  previewResults: 200_000,
  eventsPerPage: 1000,
  itemsPerPage: 1000,
  /** Bytes of JSON on one page. A page has at least one item, whatever its size. */
  pageSize: 1_048_576,
  ...ERROR_LIMITS,
};

/** All limits of inputs and stored state. Texts are in characters. A later release may change a number. */
export const LIMITS: Readonly<typeof NUMBERS> = NUMBERS;
