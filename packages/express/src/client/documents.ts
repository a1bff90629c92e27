import type { Configuration, FlagConfiguration, Flags } from '@flags/core';
import { type Serialized, serialized } from '../serialized.js';
import { contentsOf } from './contents.js';
import { createRecent } from './recent.js';
import { flagText, segmentText } from './texts.js';
import { isInView, keyOf, type View } from './view.js';

/** Views come from tokens and filters: so many of them are kept ready. */
const VIEWS = 50;

/** What client SDKs read. A document is made once per change, and is the same object until then. */
export interface ClientDocuments {
  /** @throws FlagsError `environment_not_found` */
  features(view: View): Serialized;
  /**
   * One flag; undefined when the view has no such flag.
   *
   * @throws FlagsError `environment_not_found`
   */
  feature(view: View, name: string): Serialized | undefined;
}

export function createClientDocuments(flags: Flags): ClientDocuments {
  const latest = createRecent<{ readonly configuration: Configuration; readonly document: Serialized }>(VIEWS);
  const indexes = new WeakMap<Configuration, ReadonlyMap<string, FlagConfiguration>>();
  const features = new WeakMap<FlagConfiguration, Serialized>();

  function indexOf(configuration: Configuration): ReadonlyMap<string, FlagConfiguration> {
    const known = indexes.get(configuration);
    if (known) return known;
    const index = new Map(configuration.flags.map((flag) => [flag.name, flag]));
    indexes.set(configuration, index);
    return index;
  }

  function featureOf(flag: FlagConfiguration): Serialized {
    const known = features.get(flag);
    if (known) return known;
    const document = serialized(flagText(flag));
    features.set(flag, document);
    return document;
  }

  return {
    features(view) {
      const configuration = flags.configuration(view);
      const key = keyOf(view);
      const known = latest.get(key);
      if (known?.configuration === configuration) return known.document;
      const document = serialized(featuresText(configuration, view));
      latest.set(key, { configuration, document });
      return document;
    },

    feature(view, name) {
      const flag = indexOf(flags.configuration(view)).get(name);
      return flag && isInView(flag, view) ? featureOf(flag) : undefined;
    },
  };
}

function featuresText(configuration: Configuration, view: View): string {
  const { flags, segments } = contentsOf(configuration, view);
  const { environment, projects, namePrefix } = view;
  const query = { environment, project: projects, ...(namePrefix !== '' && { namePrefix }) };
  const features = flags.map(flagText).join();
  return `{"version":2,"features":[${features}],"segments":[${segments.map(segmentText).join()}],"query":${JSON.stringify(query)}}`;
}
