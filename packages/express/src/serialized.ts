import { entityTag } from './entity-tag.js';

/** JSON ready to be sent, with its tag: made once, sent many times. */
export interface Serialized {
  readonly bytes: Buffer;
  readonly etag: string;
}

export function serialized(text: string): Serialized {
  const bytes = Buffer.from(text);
  return { bytes, etag: entityTag(bytes, undefined) };
}
