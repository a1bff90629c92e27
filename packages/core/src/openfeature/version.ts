import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/json.js';
import type {
  EnvironmentConfiguration,
  FlagConfiguration,
  SegmentConfiguration,
} from '../evaluation/evaluation.types.js';
import { clientFlagToWire, clientSegmentToWire, strategiesInUse } from '../features/environments/client-wire.js';
import { findFlag, findSorted } from './find.js';

/** 48 bits: they tell the versions of one flag apart, and an event stays short. */
const VERSION_LENGTH = 12;

interface FlagVersion {
  readonly version: string;
  /** The configuration that the segments and parents come from. Undefined if the flag has neither. */
  readonly configuration: number | undefined;
}

/** Configurations are frozen, and stay the same objects until the flag changes. */
const versions = new WeakMap<FlagConfiguration, FlagVersion>();

/**
 * Returns a short hash of what clients receive of a flag, of the constraints of its segments, and of its parents with their
 * segments. Every process that knows these returns the same. The first call after a change of them computes it.
 */
export function versionOf(flag: FlagConfiguration, configuration: EnvironmentConfiguration): string {
  const known = versions.get(flag);
  if (known && (known.configuration === undefined || known.configuration === configuration.version)) {
    return known.version;
  }
  const others = [...segmentsOf(flag, configuration), ...parentsOf(flag, configuration)];
  const isAlone = others.length === 0;
  const version = isAlone ? flagHash(flag) : hash([flagHash(flag), ...others].join());
  versions.set(flag, { version, configuration: isAlone ? undefined : configuration.version });
  return version;
}

/** Stands for a segment or a parent that this process does not know. */
const MISSING = 'missing';

/** The parents of a parent are not needed: a parent that has some satisfies no dependency. */
function parentsOf(flag: FlagConfiguration, configuration: EnvironmentConfiguration): readonly string[] {
  return (flag.dependencies ?? []).flatMap((dependency) => {
    const parent = findFlag(configuration, dependency.flag);
    return parent ? [flagHash(parent), ...segmentsOf(parent, configuration)] : MISSING;
  });
}

function segmentsOf(flag: FlagConfiguration, { segments }: EnvironmentConfiguration): readonly string[] {
  return strategiesInUse(flag).flatMap((strategy) =>
    (strategy.segments ?? []).map((id) => {
      const segment = findSorted(segments, (candidate) => candidate.id - id);
      return segment ? segmentHash(segment) : MISSING;
    }),
  );
}

/** Hashes of flags, and of the lists of constraints of segments: one hash of a large part serves all flags that use it. */
const hashes = new WeakMap<object, string>();

function flagHash(flag: FlagConfiguration): string {
  return memoizedHash(flag, () => clientFlagToWire(flag));
}

/** Omits the name of the segment, which no evaluation reads. */
function segmentHash(segment: SegmentConfiguration): string {
  return memoizedHash(segment.constraints, () => clientSegmentToWire(segment).constraints);
}

function memoizedHash(part: object, wireForm: () => unknown): string {
  const known = hashes.get(part);
  if (known !== undefined) return known;
  const computed = hash(canonicalJson(wireForm()));
  hashes.set(part, computed);
  return computed;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, VERSION_LENGTH);
}
