import { createHash } from 'node:crypto';
import type {
  ConstraintDefinition,
  EnvironmentConfiguration,
  FlagConfiguration,
  Flags,
  SegmentConfiguration,
  StrategyDefinition,
} from '@flags/core';
import { paced } from '@flags/core/integration';
import type { ResponseCache } from '../caching.js';
import { collectChunks, type JsonChunks, jsonArray, jsonList, jsonObject } from '../json-chunks.js';
import { ownBytes, type Serialized } from '../reply.js';
import { SIMPLE } from '../wire/tags.js';
import {
  type Contents,
  clientConstraintToWire,
  clientFlagToWire,
  clientSegmentToWire,
  clientStrategyToWire,
  contentsOf,
  flagDigest,
  isInView,
  keyOf,
  type SegmentForm,
  segmentDigest,
  segmentsUsedBy,
  strategiesInUse,
  type View,
} from './view.js';

/** Replaces a missing segment. Clients of any age evaluate `IN` with an empty list to false. */
const NEVER: ConstraintDefinition = { contextName: 'userId', operator: 'IN', values: [] };

type SegmentsById = ReadonlyMap<number, SegmentConfiguration>;

/**
 * Generates the JSON of a flag for clients without segment support. Each strategy includes the constraints of its
 * segments. Converts them one by one, because many strategies may share a large segment.
 */
export function inlinedFlagChunks(flag: FlagConfiguration, segments: SegmentsById): AsyncGenerator<string, void> {
  const strategies = strategiesInUse(flag).map((strategy) => inlinedStrategyChunks(strategy, segments));
  return jsonObject({ ...clientFlagToWire(flag), strategies: jsonList(strategies) });
}

function inlinedStrategyChunks(strategy: StrategyDefinition, segments: SegmentsById): AsyncGenerator<string, void> {
  const { segments: _references, ...wire } = clientStrategyToWire(strategy);
  return jsonObject({ ...wire, constraints: jsonArray(allConstraints(strategy, segments), clientConstraintToWire) });
}

function* allConstraints(strategy: StrategyDefinition, segments: SegmentsById): Generator<ConstraintDefinition> {
  yield* strategy.constraints ?? [];
  for (const id of strategy.segments ?? []) yield* segments.get(id)?.constraints ?? [NEVER];
}

/** The view and form that a client requests. */
export interface ClientRequest {
  readonly view: View;
  readonly segments: SegmentForm;
}

/** A client document: bytes if it is short, else chunks. */
interface ClientAnswer {
  readonly serialized?: Serialized;
  readonly chunks?: JsonChunks;
  readonly etag?: string;
}

/**
 * The documents for client SDKs. Short documents are cached until the next change. Long documents are generated in
 * slices for each client.
 */
export interface ClientDocuments {
  /**
   * Returns the flags of a view, with their segments.
   *
   * @throws FlagsError `environment_not_found`
   */
  features(request: ClientRequest): Promise<ClientAnswer>;
  /**
   * Returns one flag; undefined when the view has no such flag.
   *
   * @throws FlagsError `environment_not_found`
   */
  feature(request: ClientRequest, name: string): Promise<ClientAnswer | undefined>;
}

/** A cacheable document. A long document has no bytes, only its tag. */
interface ClientDocument {
  readonly etag: string;
  readonly bytes?: Buffer;
}

/** How to generate a document. */
interface DocumentSource {
  readonly key: string;
  readonly configuration: EnvironmentConfiguration;
  readonly contents: () => Contents;
  readonly chunks: () => JsonChunks;
}

export function createClientDocuments(flags: Flags, cache: ResponseCache<ClientDocument>): ClientDocuments {
  const versionOf = createVersions();
  const flagNamed = createFlagIndex();

  async function make({ key, contents, chunks }: DocumentSource): Promise<ClientDocument> {
    const etag = await contentTag(key, contents());
    const text = await collectChunks(chunks());
    if (typeof text === 'string') return { etag, bytes: ownBytes(text) };
    await text.rest.return();
    return { etag };
  }

  async function resultOf(recipe: DocumentSource): Promise<ClientAnswer> {
    const { bytes, etag } = await cache.fetch(recipe.key, versionOf(recipe.configuration), () => make(recipe));
    return bytes ? { serialized: { bytes, etag } } : { chunks: recipe.chunks(), etag };
  }

  return {
    async features({ view, segments }) {
      const configuration = await flags.loadConfiguration(view);
      const contents = () => contentsOf(configuration, view);
      return resultOf({
        key: `${segments} ${keyOf(view)}`,
        configuration,
        contents,
        chunks: () => featuresChunks(contents(), { view, segments }),
      });
    },

    async feature({ view, segments }, name) {
      const configuration = await flags.loadConfiguration(view);
      const flag = flagNamed(configuration, name);
      if (!flag || !isInView(flag, view)) return undefined;
      const used = () => segmentsUsedBy(configuration, [flag]);
      return resultOf({
        key: `${segments} ${view.environment} ${name}`,
        configuration,
        contents: () => ({ flags: [flag], segments: segments === 'inlined' ? used() : [] }),
        chunks: () =>
          segments === 'inlined' ? inlinedFlagChunks(flag, byId(used())) : jsonObject(clientFlagToWire(flag)),
      });
    },
  };
}

function featuresChunks({ flags, segments }: Contents, { view, segments: form }: ClientRequest): JsonChunks {
  const { environment, projects, namePrefix, labels } = view;
  const tag = labels?.map((label) => [SIMPLE, label]);
  const query = { environment, project: projects, ...(namePrefix !== '' && { namePrefix }), tag };
  if (form === 'beside') {
    const features = jsonArray(flags, clientFlagToWire);
    return jsonObject({ version: 2, features, segments: jsonArray(segments, clientSegmentToWire), query });
  }
  return jsonObject({ version: 2, features: jsonList(inlinedFlags(flags, byId(segments))), query });
}

/** Creates generators on demand. One generator for every flag at once would take more memory than the flags. */
function* inlinedFlags(flags: readonly FlagConfiguration[], segments: SegmentsById) {
  for (const flag of flags) yield inlinedFlagChunks(flag, segments);
}

function byId(segments: Contents['segments']): SegmentsById {
  return new Map(segments.map((segment) => [segment.id, segment]));
}

/** Returns a content hash, which is the same in every process. After a change, only changed flags are hashed again. */
async function contentTag(key: string, { flags, segments }: Contents): Promise<string> {
  const hash = createHash('sha256').update(key);
  for await (const flag of paced(flags)) hash.update(flagDigest(flag));
  for await (const segment of paced(segments)) hash.update(segmentDigest(segment));
  return `"${hash.digest('hex').slice(0, 32)}"`;
}

/**
 * Assigns a version to each configuration. A cache entry keeps only the version, so old configurations can be
 * collected.
 */
function createVersions(): (configuration: EnvironmentConfiguration) => string {
  const versions = new WeakMap<EnvironmentConfiguration, string>();
  let latest = 0;
  return (configuration) => {
    const existing = versions.get(configuration);
    if (existing !== undefined) return existing;
    latest += 1;
    const version = String(latest);
    versions.set(configuration, version);
    return version;
  };
}

function createFlagIndex(): (configuration: EnvironmentConfiguration, name: string) => FlagConfiguration | undefined {
  const indexes = new WeakMap<EnvironmentConfiguration, ReadonlyMap<string, FlagConfiguration>>();
  return (configuration, name) => {
    const index = indexes.get(configuration) ?? new Map(configuration.flags.map((flag) => [flag.name, flag]));
    indexes.set(configuration, index);
    return index.get(name);
  };
}
