import { createHash } from 'node:crypto';
import type { Configuration, FlagConfiguration, Flags } from '@flags/core';
import { collectChunks, type JsonChunks } from '../chunks.js';
import { jsonArray, jsonList, jsonObject } from '../json-chunks.js';
import { ownBytes } from '../own-bytes.js';
import type { ResponseCache } from '../response-cache.js';
import type { Serialized } from '../serialized.js';
import { createPace, nextTurn } from '../turns.js';
import { clientFlagToWire, clientSegmentToWire } from '../wire/client-flag.js';
import type { SegmentForm } from './client-spec.js';
import { type Contents, contentsOf, segmentsUsedBy } from './contents.js';
import { inlinedFlagChunks, type SegmentsById } from './inlined-segments.js';
import { flagDigest, segmentDigest } from './texts.js';
import { isInView, keyOf, type View } from './view.js';

/** What a client asks for. */
export interface ClientRequest {
  readonly view: View;
  readonly segments: SegmentForm;
}

/** A document: its bytes where it is short or cached, else its pieces. */
export interface ClientAnswer {
  readonly serialized?: Serialized;
  readonly chunks?: JsonChunks;
  readonly etag?: string;
}

/** What client SDKs read. Short documents are made once per change; long ones are made anew for each client, in slices. */
export interface ClientDocuments {
  /** @throws FlagsError `environment_not_found` */
  features(request: ClientRequest): Promise<ClientAnswer>;
  /**
   * One flag; undefined when the view has no such flag.
   *
   * @throws FlagsError `environment_not_found`
   */
  feature(request: ClientRequest, name: string): Promise<ClientAnswer | undefined>;
}

/** A document that was made. Long ones have no bytes. */
export interface ClientDocument {
  readonly etag: string;
  readonly bytes?: Buffer;
}

/** How a document is made. */
interface Recipe {
  readonly key: string;
  readonly configuration: Configuration;
  readonly contents: () => Contents;
  readonly chunks: () => JsonChunks;
}

export function createClientDocuments(flags: Flags, cache: ResponseCache<ClientDocument>): ClientDocuments {
  const versionOf = createVersions();
  const flagNamed = createFlagIndex();
  const underWay = new Map<string, Promise<ClientDocument>>();

  async function make({ key, contents, chunks }: Recipe): Promise<ClientDocument> {
    const etag = await contentTag(key, contents());
    const text = await collectChunks(chunks());
    if (typeof text === 'string') return { etag, bytes: ownBytes(text) };
    await text.rest.return();
    return { etag };
  }

  /** Requests that come while a document is made wait for it. */
  function makeOnce(recipe: Recipe, version: string): Promise<ClientDocument> {
    const name = `${version} ${recipe.key}`;
    const known = underWay.get(name);
    if (known) return known;
    const started = make(recipe)
      .then((document) => {
        cache.set(recipe.key, version, document);
        return document;
      })
      .finally(() => underWay.delete(name));
    underWay.set(name, started);
    return started;
  }

  async function resultOf(recipe: Recipe): Promise<ClientAnswer> {
    const version = versionOf(recipe.configuration);
    const { bytes, etag } = cache.get(recipe.key, version) ?? (await makeOnce(recipe, version));
    return bytes ? { serialized: { bytes, etag } } : { chunks: recipe.chunks(), etag };
  }

  return {
    async features({ view, segments }) {
      const configuration = flags.configuration(view);
      const contents = () => contentsOf(configuration, view);
      return resultOf({
        key: `${segments} ${keyOf(view)}`,
        configuration,
        contents,
        chunks: () => featuresChunks(contents(), { view, segments }),
      });
    },

    async feature({ view, segments }, name) {
      const configuration = flags.configuration(view);
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
  const { environment, projects, namePrefix } = view;
  const query = { environment, project: projects, ...(namePrefix !== '' && { namePrefix }) };
  if (form === 'beside') {
    const features = jsonArray(flags, clientFlagToWire);
    return jsonObject({ version: 2, features, segments: jsonArray(segments, clientSegmentToWire), query });
  }
  return jsonObject({ version: 2, features: jsonList(inlinedFlags(flags, byId(segments))), query });
}

/** One by one: 10,000 generators at once would take more memory than the flags. */
function* inlinedFlags(flags: readonly FlagConfiguration[], segments: SegmentsById) {
  for (const flag of flags) yield inlinedFlagChunks(flag, segments);
}

function byId(segments: Contents['segments']): SegmentsById {
  return new Map(segments.map((segment) => [segment.id, segment]));
}

/** The same for the same content, in every process. After a change only the flags that changed are hashed again. */
async function contentTag(key: string, { flags, segments }: Contents): Promise<string> {
  const hash = createHash('sha256').update(key);
  const isTurnOver = createPace();
  for (const flag of flags) {
    hash.update(flagDigest(flag));
    if (isTurnOver()) await nextTurn();
  }
  for (const segment of segments) {
    hash.update(segmentDigest(segment));
    if (isTurnOver()) await nextTurn();
  }
  return `"${hash.digest('hex').slice(0, 32)}"`;
}

/** Numbers the states of the configuration. The cache keeps the number, which keeps no state in memory. */
function createVersions(): (configuration: Configuration) => string {
  const versions = new WeakMap<Configuration, string>();
  let latest = 0;
  return (configuration) => {
    const known = versions.get(configuration);
    if (known !== undefined) return known;
    latest += 1;
    const version = String(latest);
    versions.set(configuration, version);
    return version;
  };
}

function createFlagIndex(): (configuration: Configuration, name: string) => FlagConfiguration | undefined {
  const indexes = new WeakMap<Configuration, ReadonlyMap<string, FlagConfiguration>>();
  return (configuration, name) => {
    const index = indexes.get(configuration) ?? new Map(configuration.flags.map((flag) => [flag.name, flag]));
    indexes.set(configuration, index);
    return index.get(name);
  };
}
