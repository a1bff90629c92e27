import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HttpError } from './errors.js';

export interface StreamToRead {
  readonly headers: IncomingHttpHeaders;
  /** The maximum size in bytes, after decompression. */
  readonly limit: number;
}

const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads a body as text, decompressed and decoded.
 *
 * After a refusal, reads and discards the rest of the body, so that the client receives the reply.
 *
 * @throws HttpError `payload_too_large`, `unsupported_media_type`, `invalid_json`
 */
export async function readStream(source: Readable, { headers, limit }: StreamToRead): Promise<string> {
  try {
    if (source.destroyed) throw endedEarly();
    const decoder = decoderFor(headers['content-type']);
    const bytes = await collect(source, { decompressor: decompressorFor(headers['content-encoding']), limit });
    return decoder.decode(bytes);
  } catch (error) {
    await drain(source);
    throw error;
  }
}

interface Collecting {
  readonly decompressor: Transform | undefined;
  readonly limit: number;
}

function collect(source: Readable, { decompressor, limit }: Collecting): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    const stream = decompressor ?? source;
    let length = 0;

    function finish(settle: () => void): void {
      source.off('close', onEarlyEnd).off('error', onEarlyEnd);
      stream.off('data', onData).off('end', onEnd);
      if (decompressor) {
        source.unpipe(decompressor);
        decompressor.destroy();
      }
      settle();
    }
    function fail(error: HttpError): void {
      finish(() => reject(error));
    }
    function onEarlyEnd(): void {
      // The decompressor may still hold a complete body when the source closes.
      if (!source.readableEnded) fail(endedEarly());
    }
    function onData(chunk: Uint8Array): void {
      length += chunk.byteLength;
      if (length > limit) fail(new HttpError('payload_too_large', 'The body is too large. Send less.'));
      else chunks.push(chunk);
    }
    function onEnd(): void {
      finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    }

    source.on('close', onEarlyEnd).on('error', onEarlyEnd);
    stream.on('data', onData).on('end', onEnd);
    decompressor?.on('error', ({ message }) =>
      fail(new HttpError('invalid_json', `The body cannot be read: ${message}.`)),
    );
    if (decompressor) source.pipe(decompressor);
  });
}

/** A client that disconnects leaves a truncated body, which must not count as complete. */
function endedEarly(): HttpError {
  return new HttpError('invalid_json', 'The body ended early. Send it again.');
}

function decompressorFor(header = 'identity'): Transform | undefined {
  const encoding = header.toLowerCase();
  if (encoding === 'identity') return undefined;
  const create = DECOMPRESSORS.get(encoding);
  if (create) return create();
  throw undecodable(`unsupported content encoding "${encoding}"`);
}

function decoderFor(contentType = ''): InstanceType<typeof TextDecoder> {
  const charset = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType);
  const label = charset?.[1] ?? charset?.[2] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    throw undecodable(`unsupported charset "${label.toUpperCase()}"`);
  }
}

function undecodable(reason: string): HttpError {
  return new HttpError('unsupported_media_type', `The body cannot be decoded: ${reason}.`);
}

/** Resolves when the stream has ended, or its client has disconnected. */
function drain(source: Readable): Promise<void> {
  if (source.readableEnded || source.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => resolve();
    source.on('end', done).on('close', done).on('error', done).resume();
  });
}
